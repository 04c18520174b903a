// The entry points by which a process becomes another program, and those by which it ends without
// destructors.
//
// Both note its CPU time in the spool, since nothing of the library runs later. A vfork'ed child has no spool
// of its own and leaves its parent's alone.
//
// The new image is recorded like its predecessor, if it can be. A call that fails changes nothing. A vfork'ed
// child may make these calls: nothing is allocated, and of the parent's memory only the stack is written.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cstddef>

#include "recorder/preload/event/call.hpp"
#include "recorder/preload/process/passed_environment.hpp"
#include "recorder/preload/process/real_process.hpp"
#include "recorder/preload/spool/fixed_text.hpp"
#include "recorder/preload/spool/raw_calls.hpp"
#include "recorder/preload/spool/spool_mapping.hpp"

namespace mallard::recorder {
namespace {

// For the time of an exec, the spool of this process says that its writer is becoming another program.
class replacement {
 public:
  replacement() noexcept : spool_(current_spool()) {
    if (spool_ != nullptr && spool_->attached != raw_process()) spool_ = nullptr;
    if (spool_ == nullptr) return;
    spool_->end_cpu_ns = raw_cpu_ns();
    spool_->replaced = 1;
  }
  ~replacement() noexcept {
    if (spool_ == nullptr) return;
    spool_->replaced = 0;
    spool_->end_cpu_ns = 0;
  }
  replacement(const replacement&) = delete;
  replacement& operator=(const replacement&) = delete;

 private:
  spool_header* spool_;
};

[[noreturn]] void leave(int status) noexcept {
  spool_header* spool = current_spool();
  if (spool != nullptr && spool->attached == raw_process()) {
    spool->peak_rss = peak_of_program();
    spool->end_cpu_ns = raw_cpu_ns();
  }
  real_process().leave(status);
  __builtin_unreachable();
}

template <class Exec>
int become(const char* file, char* const* variables, Exec exec) noexcept {
  return with_environment_for(file, variables, [&](char* const* passed) {
    const replacement mark;
    const int result = exec(passed);
    if (errno != E2BIG || passed == variables) return result;
    auto* const counted =
        count_unrecorded(file, file, "its arguments and environment leave no room for more");
    exec(variables);
    discount(counted);
    return -1;
  });
}

int become_path(const char* path, char* const* arguments, char* const* variables) noexcept {
  return become(path, variables,
                [=](char* const* passed) { return real_process().execve(path, arguments, passed); });
}

int become_file(const char* file, char* const* arguments, char* const* variables) noexcept {
  const searched_file found(file);
  return become(found.path(), variables,
                [=](char* const* passed) { return real_process().execvpe(file, arguments, passed); });
}

std::size_t count_arguments(va_list list) noexcept {
  std::size_t count = 1;
  while (va_arg(list, char*) != nullptr) ++count;
  return count;
}

}  // namespace
}  // namespace mallard::recorder

using namespace mallard::recorder;

// The words of a call like execl("/bin/ls", "ls", "-l", NULL), as an array that ends with the null.
// NOLINTBEGIN(bugprone-macro-parentheses): these are names that it declares
#define MALLARD_COLLECT(arguments, first, list)                                                      \
  va_list list;                                                                                      \
  va_start(list, first);                                                                             \
  const std::size_t arguments##_count = count_arguments(list);                                       \
  va_end(list);                                                                                      \
  auto** arguments = static_cast<char**>(__builtin_alloca((arguments##_count + 1) * sizeof(char*))); \
  va_start(list, first);                                                                             \
  arguments[0] = const_cast<char*>(first);                                                           \
  for (std::size_t i = 1; i <= arguments##_count; ++i) arguments[i] = va_arg(list, char*)
// NOLINTEND(bugprone-macro-parentheses)

MALLARD_INTERPOSED int execve(const char* path, char* const* arguments, char* const* variables) noexcept {
  return become_path(path, arguments, variables);
}

MALLARD_INTERPOSED int execv(const char* path, char* const* arguments) noexcept {
  return become_path(path, arguments, environ);
}

MALLARD_INTERPOSED int execvpe(const char* file, char* const* arguments, char* const* variables) noexcept {
  return become_file(file, arguments, variables);
}

MALLARD_INTERPOSED int execvp(const char* file, char* const* arguments) noexcept {
  return become_file(file, arguments, environ);
}

MALLARD_INTERPOSED int execl(const char* path, const char* first, ...) noexcept {
  MALLARD_COLLECT(arguments, first, list);
  va_end(list);
  return become_path(path, arguments, environ);
}

MALLARD_INTERPOSED int execlp(const char* file, const char* first, ...) noexcept {
  MALLARD_COLLECT(arguments, first, list);
  va_end(list);
  return become_file(file, arguments, environ);
}

MALLARD_INTERPOSED int execle(const char* path, const char* first, ...) noexcept {
  MALLARD_COLLECT(arguments, first, list);
  char* const* variables = va_arg(list, char* const*);
  va_end(list);
  return become_path(path, arguments, variables);
}

MALLARD_INTERPOSED int fexecve(int descriptor, char* const* arguments, char* const* variables) noexcept {
  char path[32];
  fixed_text(path, sizeof path).append("/proc/self/fd/").append_number(static_cast<unsigned>(descriptor));
  return become(path, variables,
                [=](char* const* passed) { return real_process().fexecve(descriptor, arguments, passed); });
}

// A path of an open folder, or without one of the file in `folder` itself, is found by way of /proc.
MALLARD_INTERPOSED int execveat(int folder, const char* path, char* const* arguments, char* const* variables,
                                int flags) noexcept {
  char file[PATH_MAX + 32] = {};
  fixed_text text(file, sizeof file);
  if (folder != AT_FDCWD && path[0] != '/')
    text.append("/proc/self/fd/")
        .append_number(static_cast<unsigned>(folder))
        .append(path[0] != '\0' ? "/" : "");
  text.append(path);
  return become(file, variables, [=](char* const* passed) {
    return real_process().execveat(folder, path, arguments, passed, flags);
  });
}

MALLARD_INTERPOSED void _exit(int status) { leave(status); }
MALLARD_INTERPOSED void _Exit(int status) noexcept { leave(status); }
