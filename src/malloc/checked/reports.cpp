#include "malloc/checked/reports.hpp"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>

#include "malloc/failed_new.hpp"
#include "malloc/options.hpp"

namespace mallard::malloc_library {
namespace {

constexpr std::size_t most_reports = 1000;
constexpr int default_exit_code = 99;

constinit futex_mutex mutex;
constinit sockaddr_un reader{};  // of mallard run; without a path: there is none
constinit std::size_t limit = 100;
constinit bool aborts = false;
constinit int exit_code = default_exit_code;
constinit char program[4096]{};  // its file

constinit std::size_t counts[misuses]{};
constinit std::size_t told = 0;
constinit std::uint64_t told_keys[most_reports]{};

// The text of one report, under the lock.
class page {
 public:
  [[gnu::format(printf, 2, 3)]] void add(const char* format, ...) noexcept {
    va_list arguments;
    va_start(arguments, format);
    const int length = ::vsnprintf(text_ + size_, sizeof text_ - size_, format, arguments);
    va_end(arguments);
    if (length > 0) size_ = std::min(size_ + static_cast<std::size_t>(length), sizeof text_ - 1);
  }

  void clear() noexcept { size_ = 0; }

  // The first line is for mallard run alone.
  void send() noexcept {
    const char* const behind = static_cast<const char*>(::memchr(text_, '\n', size_)) + 1;
    if (reader.sun_path[0] != '\0' && send_to_reader()) return;
    (void)!::write(STDERR_FILENO, behind, size_ - static_cast<std::size_t>(behind - text_));
  }

 private:
  bool send_to_reader() const noexcept {
    const int way = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (way < 0) return false;
    long sent = 0;
    do {
      sent = ::sendto(way, text_, size_, MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&reader),
                      sizeof reader);
    } while (sent < 0 && errno == EINTR);
    ::close(way);
    return sent >= 0;
  }

  std::size_t size_ = 0;
  char text_[65536]{};
};

constinit page sheet;

constexpr const char* plural(std::size_t count) noexcept { return count == 1 ? "" : "s"; }

constexpr const char* name_of(misuse what) noexcept {
  switch (what) {
    case misuse::foreign_pointer:
      return "invalid free";
    case misuse::double_free:
      return "double free";
    case misuse::wrong_family:
    case misuse::wrong_size:
    case misuse::wrong_align:
      return "mismatched free";
    case misuse::written_before:
      return "underflow";
    case misuse::written_behind:
      return "overflow";
    case misuse::written_after_free:
      return "write after free";
    case misuse::accessed_before:
      return "access in front of a block";
    case misuse::accessed_behind:
      return "access behind a block";
    case misuse::accessed_after_free:
      return "access after free";
    case misuse::leaked:
      return "leak";
  }
  return "misuse";
}

constexpr const char* function_of(const block_facts& b) noexcept {
  switch (b.allocated_by) {
    case family::of_malloc:
      return b.is_aligned ? "aligned_alloc or the like" : "malloc or the like";
    case family::of_new:
      return b.is_aligned ? "new with an alignment" : "new";
    case family::of_array_new:
      return b.is_aligned ? "new[] with an alignment" : "new[]";
  }
  return "malloc";
}

// A call as a report shows it; without a file: no module has it.
struct named_call {
  const char* file = nullptr;
  std::size_t offset = 0;
  const char* function = nullptr;
};

struct named_stack {
  std::size_t count = 0;
  named_call calls[most_frames];
};

// Of one report. Of each thread, as names are found without the lock, and a handler of a fault has little
// stack.
struct named_stacks {
  named_stack now;
  named_stack freed;
  named_stack allocated;
};
__thread named_stacks named;

void name_stack(stack_number stack, named_stack& out) noexcept {
  out.count = 0;
  for (const std::uintptr_t call : frames_of(stack)) {
    Dl_info where;
    link_map* module = nullptr;
    named_call& one = out.calls[out.count++];
    if (::dladdr1(reinterpret_cast<const void*>(call), &where, reinterpret_cast<void**>(&module),
                  RTLD_DL_LINKMAP) == 0)
      one = {.offset = call};
    else
      one = {module->l_name[0] != '\0' ? module->l_name : program,
             static_cast<std::size_t>(call - module->l_addr), where.dli_sname};
  }
}

// By the loader, under its lock. A thread that holds it may report, too, as constructors of libraries do: so
// the lock of reports is not held here.
void name_stacks_of(const finding& f) noexcept {
  name_stack(f.now, named.now);
  if (f.block == nullptr) return;
  name_stack(f.block->freed, named.freed);
  name_stack(f.block->allocated, named.allocated);
}

void add_stack(const char* title, const char* function, const named_stack& stack) noexcept {
  sheet.add("    %s%s%s:\n", title, function != nullptr ? " by " : "", function != nullptr ? function : "");
  for (std::size_t i = 0; i != stack.count; ++i) {
    const auto& [file, offset, name] = stack.calls[i];
    if (file == nullptr)
      sheet.add("      #%zu 0x%zx\n", i, offset);
    else
      sheet.add("      #%zu %s+0x%zx%s%s\n", i, file, offset, name != nullptr ? " " : "",
                name != nullptr ? name : "");
  }
  if (stack.count == 0) sheet.add("      unknown\n");
}

void add_distance(const finding& f) noexcept {
  const block_facts& b = *f.block;
  const std::uintptr_t p = address_of(f.pointer);
  const std::uintptr_t data = address_of(b.data);
  if (p < data)
    sheet.add("    %p is %zu byte%s in front of it\n", f.pointer, data - p, plural(data - p));
  else if (p < data + b.size)
    sheet.add("    %p is at its byte %zu\n", f.pointer, p - data);
  else
    sheet.add("    %p is %zu byte%s behind its end\n", f.pointer, p - data - b.size,
              plural(p - data - b.size));
}

void add_what(const finding& f) noexcept {
  sheet.add("mallard: %s", name_of(f.what));
  if (f.what == misuse::leaked) {
    sheet.add(": %zu byte%s in %zu block%s\n", f.size, plural(f.size), f.count, plural(f.count));
    return;
  }
  if (f.what == misuse::foreign_pointer) sheet.add(": %p is not where a block begins\n", f.pointer);
  if (f.block == nullptr) {
    sheet.add("    no block is near\n");
    return;
  }
  const block_facts& b = *f.block;
  sheet.add(f.what == misuse::foreign_pointer ? "    the block near it:" : ":");
  sheet.add(" %zu byte%s at %p", b.size, plural(b.size), static_cast<const void*>(b.data));
  if (b.is_aligned) sheet.add(", aligned to %zu", b.align);
  sheet.add("%s\n", b.freed != 0 && f.what == misuse::foreign_pointer ? ", which is freed" : "");
  switch (f.what) {
    case misuse::wrong_family:
      sheet.add("    allocated by %s, freed by %s\n", function_of(b), f.function);
      break;
    case misuse::wrong_size:
      sheet.add("    freed as %zu byte%s\n", f.size, plural(f.size));
      break;
    case misuse::wrong_align:
      sheet.add("    freed as aligned to %zu\n", f.align);
      break;
    case misuse::written_before:
    case misuse::written_behind:
    case misuse::written_after_free:
      add_distance(f);
      sheet.add("    changed from there on: %zu byte%s\n", f.count, plural(f.count));
      break;
    case misuse::double_free:
      break;
    default:
      add_distance(f);
  }
}

void add_stacks(const finding& f) noexcept {
  switch (f.what) {
    case misuse::leaked:
      break;
    case misuse::double_free:
      add_stack("freed again", f.function, named.now);
      break;
    case misuse::foreign_pointer:
    case misuse::wrong_family:
    case misuse::wrong_size:
    case misuse::wrong_align:
      add_stack("freed", f.function, named.now);
      break;
    case misuse::accessed_before:
    case misuse::accessed_behind:
    case misuse::accessed_after_free:
      add_stack("accessed", nullptr, named.now);
      break;
    default:
      if (f.function != nullptr)
        add_stack("noticed", f.function, named.now);
      else
        sheet.add("    noticed when the program ended\n");
  }
  if (f.block == nullptr) return;
  if (f.block->freed != 0) add_stack("freed before", nullptr, named.freed);
  add_stack("allocated", function_of(*f.block), named.allocated);
}

// Whether a finding is to be reported, and is the last one.
struct turn {
  bool is_told = false;
  bool is_last = false;
};

// What has not been reported counts as reported from now on.
turn count(const finding& f) noexcept {
  const std::uint64_t block = f.block == nullptr ? address_of(f.pointer) : f.block->allocated;
  const std::uint64_t key =
      (std::uint64_t{f.now} << 36 ^ block << 4 ^ static_cast<std::uint64_t>(f.what)) | 1;
  const std::lock_guard guard(mutex);
  ++counts[static_cast<std::size_t>(f.what)];
  if (told == limit || std::find(told_keys, told_keys + told, key) != told_keys + told) return {};
  told_keys[told++] = key;
  return {true, told == limit};
}

// That this process is checked; it is not where the program has a malloc of its own. A program's entry for
// malloc may lie in itself and still lead here, so what counts is whose block it returns.
void tell_reader() noexcept {
  auto* const allocate = find_function<void*(std::size_t)>(RTLD_DEFAULT, "malloc");
  auto* const end = find_function<void(void*)>(RTLD_DEFAULT, "free");
  if (allocate == nullptr || end == nullptr) return;
  void* const p = allocate(1);
  const bool is_ours = the_segments.find(p) != nullptr;
  end(p);
  if (!is_ours) return;
  const std::lock_guard guard(mutex);
  sheet.clear();
  sheet.add("checked %d\n", ::getpid());
  sheet.send();
}

// A child starts over: what was found before is its parent's.
void begin_anew() noexcept {
  ::memset(counts, 0, sizeof counts);
  told = 0;
}

}  // namespace

void report(const finding& found) noexcept {
  const int saved_errno = errno;
  if (const auto [is_told, is_last] = count(found); is_told) {
    name_stacks_of(found);
    const std::lock_guard guard(mutex);
    sheet.clear();
    sheet.add("report %d %s\n", ::getpid(), name_of(found.what));
    add_what(found);
    add_stacks(found);
    if (is_last) sheet.add("mallard: %zu reports: all others are only counted\n", limit);
    sheet.send();
  }
  errno = saved_errno;
  if (aborts) ::abort();
}

std::size_t findings() noexcept {
  std::size_t sum = 0;
  for (const std::size_t count : counts) sum += count;
  return sum;
}

int summarise() noexcept {
  if (findings() == 0) return 0;
  const std::lock_guard guard(mutex);
  sheet.clear();
  sheet.add("summary %d", ::getpid());
  for (int line = 0; line != 2; ++line) {
    if (line == 1)
      sheet.add("mallard: %zu error%s in %s:", findings(), plural(findings()), program_invocation_short_name);
    const char* before = " ";
    for (std::size_t i = 0; i != misuses; ++i) {
      std::size_t count = counts[i];
      const char* const name = name_of(static_cast<misuse>(i));
      bool is_counted = false;  // with another one of that name
      for (std::size_t j = 0; j != misuses; ++j) {
        if (j == i || ::strcmp(name_of(static_cast<misuse>(j)), name) != 0) continue;
        if (j < i) is_counted = true;
        count += counts[j];
      }
      if (count == 0 || is_counted) continue;
      sheet.add("%s%s %zu", before, name, count);
      before = ", ";
    }
    sheet.add("\n");
  }
  sheet.send();
  return exit_code;
}

void prepare_reports() noexcept {
  hold_over_forks(mutex);
  hold_over_forks(stacks_mutex);
  (void)::pthread_atfork(nullptr, nullptr, begin_anew);
  limit = std::clamp<std::size_t>(option("MALLARD_MALLOC_REPORTS", limit), 1, most_reports);
  aborts = option("MALLARD_MALLOC_ABORT", 0) != 0;
  exit_code = static_cast<int>(option("MALLARD_MALLOC_EXIT_CODE", default_exit_code));
  if (const char* const path = ::secure_getenv("MALLARD_MALLOC_READER");
      path != nullptr && ::strlen(path) < sizeof reader.sun_path) {
    reader.sun_family = AF_UNIX;
    ::strcpy(reader.sun_path, path);
  }
  const long length = ::readlink("/proc/self/exe", program, sizeof program - 1);
  program[std::max(length, 0L)] = '\0';
  if (reader.sun_path[0] != '\0') tell_reader();
}

}  // namespace mallard::malloc_library
