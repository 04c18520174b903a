#include "recorder/preload/spool/lineage.hpp"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "recorder/clock.hpp"
#include "recorder/preload/spool/fixed_text.hpp"
#include "recorder/preload/spool/raw_calls.hpp"
#include "recorder/preload/spool/reader_watch.hpp"
#include "recorder/preload/spool/spool_mapping.hpp"
#include "recorder/preload/spool/unrecorded_programs.hpp"

namespace mallard::recorder {
using namespace journal;

constinit lineage_record lineage{};

namespace {

// Takes a number and the colon behind it; false if they are not there.
bool take_number(const char*& text, std::uint32_t& number) noexcept {
  number = 0;
  for (; *text >= '0' && *text <= '9'; ++text) number = number * 10 + static_cast<std::uint32_t>(*text - '0');
  return *text++ == ':';
}

}  // namespace

bool join_lineage(const char* variable) noexcept {
  const char* path = variable;
  std::uint32_t number = 0;
  std::uint32_t process = 0;
  if (!take_number(path, number) || !take_number(path, process)) return false;
  const std::size_t length = strlen(path);
  if (length >= sizeof lineage.spool) return false;
  spool_header* root = map_spool_page(path);
  if (root == nullptr) return false;
  memcpy(lineage.spool, path, length + 1);
  lineage.number = number;
  lineage.process = process;
  lineage.root = root;
  return true;
}

bool children_are_recorded() noexcept {
  const spool_header* root = lineage.root;
  return root != nullptr && root->options.children != 0 && root->stopped == 0 && root->left_alone == 0 &&
         root->gave_up == 0;
}

namespace {

constexpr unsigned most_of_one_process = 100'000;  // of the same id
constexpr std::size_t longest_arguments = std::size_t{64} * 1024;

// The folder of the children's journals, from the path of the root's spool.
fixed_text children_folder(char (&path)[PATH_MAX]) noexcept {
  fixed_text text(path, sizeof path);
  text.append(lineage.spool, strlen(lineage.spool) - strlen(spool_suffix)).append(children_suffix);
  return text;
}

// A name is taken by a spool, or by the journal of an earlier one. The spool is made first, so that no other
// process can make it, and then the journal is looked for. Returns the file's descriptor, or the negated
// error.
int make_file(char (&path)[PATH_MAX]) noexcept {
  if (!children_folder(path).good()) return -ENAMETOOLONG;
  const long made = raw_call(SYS_mkdirat, AT_FDCWD, path, 0777);
  if (made < 0 && made != -EEXIST) return static_cast<int>(made);
  for (unsigned number = 1; number < most_of_one_process; ++number) {
    fixed_text text = children_folder(path);
    text.append("/").append_number(raw_process());
    if (number > 1) text.append(".").append_number(number);
    char* const suffix = text.end();
    if (!text.append(spool_suffix).good()) return -ENAMETOOLONG;
    const int descriptor = raw_open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (descriptor == -EEXIST) continue;
    if (descriptor < 0) return descriptor;
    *suffix = '\0';
    const bool taken = raw_exists(path);
    *suffix = spool_suffix[0];
    if (!taken) return descriptor;
    raw_unlink(path);
    raw_close(descriptor);
  }
  return -EEXIST;
}

// A range of the file, on disk; the error if that fails.
int back(int descriptor, std::size_t begin, std::size_t end) noexcept {
  long problem = 0;
  do problem = raw_call(SYS_fallocate, descriptor, 0, begin, end - begin);
  while (problem == -EINTR);
  if (problem != -EOPNOTSUPP) return static_cast<int>(-problem);
  return posix_fallocate(descriptor, static_cast<off_t>(begin), static_cast<off_t>(end - begin));
}

// Backs the beginning of the file by disk space; the error if that fails. Checks the limit on the size of
// files first, since exceeding it would send the program a signal.
int back(int descriptor, const spool_options& options, std::uint64_t longest) noexcept {
  if (ring_at(options, least_rings) > longest) return EFBIG;
  const int problem = back(descriptor, 0, contexts_at + contexts_at_first * sizeof(context_entry));
  return problem != 0 ? problem : back(descriptor, rings_at(options), ring_at(options, least_rings));
}

// The first name of the spool: the process's folder, its program and its arguments, each with its zero. The
// launcher might come too late to find them out.
void describe(spool_header* spool) noexcept {
  char* const begin = names_of(spool) + sizeof(name_length);
  char* end = begin;
  for (const char* link : {"/proc/self/cwd", "/proc/self/exe"}) end += raw_read_link(link, end, PATH_MAX) + 1;
  const int descriptor = raw_open("/proc/self/cmdline", O_RDONLY);
  if (descriptor >= 0) {
    end += raw_read(descriptor, end, longest_arguments);
    raw_close(descriptor);
  }
  const auto length = static_cast<name_length>(end - begin);
  memcpy(names_of(spool), &length, sizeof length);
  spool->described = length;
  spool->names_used = static_cast<std::uint32_t>(sizeof length + ((length + 3u) & ~3u));
}

// Null if that fails, and `problem` is the error.
spool_header* make_spool(int& problem) noexcept {
  rlimit longest{};
  const long unknown = raw_call(SYS_prlimit64, 0, int{RLIMIT_FSIZE}, nullptr, &longest);
  problem = unknown != 0 ? static_cast<int>(-unknown) : EINVAL;
  const spool_options options = fit_into(longest.rlim_cur, lineage.root->options);
  if (unknown != 0 || !is_possible(options)) return nullptr;
  char path[PATH_MAX];
  const int descriptor = make_file(path);
  problem = descriptor < 0 ? -descriptor : back(descriptor, options, longest.rlim_cur);
  if (descriptor < 0) return nullptr;
  raw_close(descriptor);
  spool_header* spool = problem == 0 ? map_spool(path, options) : nullptr;
  if (spool == nullptr) {
    if (problem == 0) problem = errno;
    raw_unlink(path);
    return nullptr;
  }
  lay_out(spool, options, least_rings);
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  spool->start_ticks = ticks();
  spool->start_unix_ns = ns_of(now);
  spool->ticks_per_second = lineage.root->ticks_per_second.load();
  spool->pid_namespace = own_pid_namespace();
  spool->number = lineage.root->numbered.fetch_add(1) + 1;
  spool->parent_number = lineage.number;
  spool->parent_process = lineage.process;
  spool->attached = raw_process();
  describe(spool);
  spool->magic.store(spool_magic, std::memory_order_release);
  return spool;
}

}  // namespace

spool_header* make_child_spool() noexcept {
  int problem = 0;
  spool_header* spool = make_spool(problem);
  if (spool == nullptr) count_unrecorded(reason_of_error(problem));
  return spool;
}

void announce_child_spool() noexcept {
  lineage.root->announced.fetch_add(1);
  wake_reader();
}

}  // namespace mallard::recorder
