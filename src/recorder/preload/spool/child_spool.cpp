#include "recorder/preload/spool/child_spool.hpp"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "recorder/clock.hpp"
#include "recorder/preload/spool/fixed_text.hpp"
#include "recorder/preload/spool/lineage.hpp"
#include "recorder/preload/spool/raw_calls.hpp"
#include "recorder/preload/spool/reader_watch.hpp"
#include "recorder/preload/spool/spool_mapping.hpp"

namespace mallard::recorder {
using namespace journal;

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
// process can make it, and then the journal is looked for. Returns the file's descriptor, below 0 if there is
// none.
int make_file(char (&path)[PATH_MAX]) noexcept {
  if (!children_folder(path).good()) return -1;
  static_cast<void>(raw_call(SYS_mkdirat, AT_FDCWD, path, 0777));
  for (unsigned number = 1; number < most_of_one_process; ++number) {
    fixed_text text = children_folder(path);
    text.append("/").append_number(raw_process());
    if (number > 1) text.append(".").append_number(number);
    char* const suffix = text.end();
    if (!text.append(spool_suffix).good()) return -1;
    const int descriptor = raw_open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (descriptor == -EEXIST) continue;
    if (descriptor < 0) return -1;
    *suffix = '\0';
    const bool taken = raw_exists(path);
    *suffix = spool_suffix[0];
    if (!taken) return descriptor;
    raw_unlink(path);
    raw_close(descriptor);
  }
  return -1;
}

// A range of the file, on disk.
bool back(int descriptor, std::size_t begin, std::size_t end) noexcept {
  long problem = 0;
  do problem = raw_call(SYS_fallocate, descriptor, 0, begin, end - begin);
  while (problem == -EINTR);
  if (problem != -EOPNOTSUPP) return problem == 0;
  return posix_fallocate(descriptor, static_cast<off_t>(begin), static_cast<off_t>(end - begin)) == 0;
}

// Backs the beginning of the file by disk space. Checks the limit on the size of files first, since exceeding
// it would send the program a signal.
bool back(int descriptor, const spool_options& options, std::uint64_t longest) noexcept {
  return ring_at(options, least_rings) <= longest &&
         back(descriptor, 0, contexts_at + contexts_at_first * sizeof(context_entry)) &&
         back(descriptor, rings_at(options), ring_at(options, least_rings));
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

spool_header* make_spool() noexcept {
  rlimit longest{};
  if (raw_call(SYS_prlimit64, 0, int{RLIMIT_FSIZE}, nullptr, &longest) != 0) return nullptr;
  const spool_options options = fit_into(longest.rlim_cur, lineage.root->options);
  if (!is_possible(options)) return nullptr;
  char path[PATH_MAX];
  const int descriptor = make_file(path);
  if (descriptor < 0) return nullptr;
  spool_header* spool =
      back(descriptor, options, longest.rlim_cur) ? map_spool(descriptor, options) : nullptr;
  raw_close(descriptor);
  if (spool == nullptr) {
    raw_unlink(path);
    return nullptr;
  }
  lay_out(spool, options, least_rings);
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  spool->start_ticks = ticks();
  spool->start_unix_ns = ns_of(now);
  spool->ticks_per_second = lineage.root->ticks_per_second.load();
  spool->parent_process = lineage.process;
  spool->attached = raw_process();
  describe(spool);
  spool->magic.store(spool_magic, std::memory_order_release);
  return spool;
}

}  // namespace

spool_header* make_child_spool() noexcept {
  spool_header* spool = make_spool();
  if (spool == nullptr) lineage.root->children_lost.fetch_add(1);
  return spool;
}

void announce_child_spool() noexcept {
  lineage.root->announced.fetch_add(1);
  wake_reader();
}

}  // namespace mallard::recorder
