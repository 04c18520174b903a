// What the environment sets for the malloc, and what the malloc reports about itself.
//
//     MALLARD_MALLOC_DECAY_MS=N     milliseconds that freed memory stays with the process
//     MALLARD_MALLOC_HUGE_PAGES=1   asks the system for huge pages
//     MALLARD_MALLOC_STATS=1|FILE   mallard_malloc_stats() at exit, to stderr or to a file, as JSON by its
//     name MALLARD_MALLOC_SIGNAL=NAME    the same whenever that signal comes
//
// A report is made where a signal has interrupted anything, this library too: so nothing here allocates or
// waits, figures are read without locks and are approximate, and little of the stack is used, which
// may be a small one for signals. What cannot be written is left out, and the program goes on.
// docs/malloc.md describes the figures.
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "mallard/core/attributes.hpp"
#include "malloc/heap_of_thread.hpp"
#include "malloc/options.hpp"

#define MALLARD_ENTRY extern "C" [[gnu::visibility("default")]]

namespace mallard::malloc_library {
namespace {

constexpr std::size_t kib = 1024;

// Text that is written to a file as it grows, without stdio.
class report_text {
 public:
  explicit report_text(int file) noexcept : file_(file) {}
  report_text(const report_text&) = delete;
  report_text& operator=(const report_text&) = delete;
  ~report_text() { write_out(); }

  report_text& operator<<(const char* text) noexcept {
    for (; *text != 0; ++text) add(*text);
    return *this;
  }
  report_text& operator<<(std::size_t n) noexcept { return number(n, 1); }

  // At the right of `width` characters, or more if it is longer.
  report_text& number(std::size_t n, std::size_t width) noexcept {
    char digits[20];
    std::size_t count = 0;
    do digits[count++] = static_cast<char>('0' + n % 10);
    while ((n /= 10) != 0);
    for (std::size_t i = count; i < width; ++i) add(' ');
    while (count != 0) add(digits[--count]);
    return *this;
  }

 private:
  void add(char c) noexcept {
    if (size_ == sizeof bytes_) write_out();
    bytes_[size_++] = c;
  }

  // Nobody may listen any more: the signal that says so would end the program, and is taken back.
  void write_out() noexcept {
    sigset_t pipe_signal;
    sigset_t before;
    sigset_t pending;
    ::sigemptyset(&pipe_signal);
    ::sigaddset(&pipe_signal, SIGPIPE);
    ::sigpending(&pending);
    ::pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    for (std::size_t done = 0; done != size_;) {
      const ssize_t written = ::write(file_, bytes_ + done, size_ - done);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) break;
      done += static_cast<std::size_t>(written);
    }
    constexpr timespec no_time{};
    if (!::sigismember(&pending, SIGPIPE)) (void)::sigtimedwait(&pipe_signal, nullptr, &no_time);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    size_ = 0;
  }

  int file_;
  std::size_t size_ = 0;
  char bytes_[512];
};

// --- what is reported -------------------------------------------------------------------------------------

struct sums {
  std::size_t heaps = 0;
  std::size_t bytes = 0;  // of all slabs
  std::size_t slabs[heap::classes::count]{};
  std::size_t blocks[heap::classes::count]{};
};

// While other threads are at work the figures of their heaps are near what they were.
sums sum_of_heaps() noexcept {
  sums all;
  for_each_heap(
      [](const heap& h, void* with) {
        auto& total = *static_cast<sums*>(with);
        ++total.heaps;
        const auto add = [&total](std::size_t size, std::size_t slabs, std::size_t bytes,
                                  std::size_t blocks) {
          const std::size_t index = heap::classes::index(size, 1);
          total.bytes += bytes;
          total.slabs[index] += slabs;
          total.blocks[index] += blocks;
        };
        h.for_each_class(add);
        for (const pool* p = pools_of(const_cast<heap*>(&h)).newest; p != nullptr; p = p->older)
          p->for_each_class(add);
      },
      &all);
  return all;
}

MALLARD_NOINLINE void tell_table(int file) noexcept {
  const segments_usage u = the_segments.glance();
  const sums all = sum_of_heaps();
  report_text text(file);
  text << "mallard-malloc: " << u.used / kib << " KiB in use of segments (most " << u.peak / kib << "), "
       << u.dirty / kib << " KiB freed and kept, " << u.purged / kib << " KiB given back, " << all.heaps
       << " heaps\n      size    slabs       blocks          KiB\n";
  for (std::size_t i = 0; i != heap::classes::count; ++i) {
    if (all.slabs[i] == 0) continue;
    const std::size_t size = heap::classes::size(i);
    text.number(size, 10).number(all.slabs[i], 9).number(all.blocks[i], 13);
    text.number(all.blocks[i] * size / kib, 13) << "\n";
  }
}

// One object, in one line.
MALLARD_NOINLINE void tell_json(int file) noexcept {
  const segments_usage u = the_segments.glance();
  const sums all = sum_of_heaps();
  report_text text(file);
  text << "{\"process\": " << static_cast<std::size_t>(::getpid()) << ", \"used_bytes\": " << u.used
       << ", \"peak_bytes\": " << u.peak << ", \"kept_bytes\": " << u.dirty
       << ", \"given_back_bytes\": " << u.purged << ", \"heaps\": " << all.heaps << ", \"classes\": [";
  const char* between = "";
  for (std::size_t i = 0; i != heap::classes::count; ++i) {
    if (all.slabs[i] == 0) continue;
    text << between << "{\"size\": " << heap::classes::size(i) << ", \"slabs\": " << all.slabs[i]
         << ", \"blocks\": " << all.blocks[i] << "}";
    between = ", ";
  }
  text << "]}\n";
}

// --- where to, and when -----------------------------------------------------------------------------------

constexpr std::size_t longest_path = 1024;

constinit bool tells_at_exit = false;
constinit char destination[longest_path]{};  // a path, in which %p is the process; none: standard error
constinit struct sigaction before_ours{};

// The file of this process, or -1.
MALLARD_NOINLINE int open_destination() noexcept {
  char path[longest_path + 24];
  std::size_t size = 0;
  for (const char* c = destination; *c != 0 && size < longest_path; ++c) {
    if (c[0] != '%' || c[1] != 'p') {
      path[size++] = *c;
      continue;
    }
    ++c;
    const auto process = static_cast<std::size_t>(::getpid());
    std::size_t unit = 1;
    while (process / unit >= 10) unit *= 10;
    for (; unit != 0; unit /= 10) path[size++] = static_cast<char>('0' + process / unit % 10);
  }
  path[size] = 0;
  const int file = ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);
  if (file < 0)
    report_text(STDERR_FILENO) << "mallard-malloc: MALLARD_MALLOC_STATS: cannot write " << path << "\n";
  return file;
}

void tell() noexcept {
  if (destination[0] == 0) return tell_table(STDERR_FILENO);
  const int file = open_destination();
  if (file < 0) return;
  const std::size_t size = ::strlen(destination);
  const bool is_json = size > 5 && ::strcmp(destination + size - 5, ".json") == 0;
  is_json ? tell_json(file) : tell_table(file);
  ::close(file);
}

void on_signal(int signal, siginfo_t* info, void* context) noexcept {
  const int saved_errno = errno;
  tell();
  errno = saved_errno;
  if ((before_ours.sa_flags & SA_SIGINFO) != 0)
    before_ours.sa_sigaction(signal, info, context);
  else if (before_ours.sa_handler != SIG_DFL && before_ours.sa_handler != SIG_IGN)
    before_ours.sa_handler(signal);
}

// --- options ----------------------------------------------------------------------------------------------

bool is_number(const char* text) noexcept {
  return *text != 0 && ::strspn(text, "0123456789") == ::strlen(text);
}

// A program may go to another folder before the file is opened.
void read_destination(const char* path) noexcept {
  std::size_t size = 0;
  if (*path != '/' && ::getcwd(destination, longest_path) != nullptr) {
    size = ::strlen(destination);
    if (size + 1 < longest_path) destination[size++] = '/';
  }
  const std::size_t length = ::strlen(path);
  if (size + length < longest_path)
    ::memcpy(destination + size, path, length + 1);
  else
    destination[0] = 0;
}

// By its number or its name, with SIG or without; 0: none that may be used. A handler of a signal that a
// fault raises cannot continue.
int signal_of(const char* text) noexcept {
  constexpr int of_faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
  int found = is_number(text) ? ::atoi(text) : 0;
  if (::strncmp(text, "SIG", 3) == 0) text += 3;
  for (int s = 1; s != NSIG; ++s)
    if (const char* const name = ::sigabbrev_np(s); name != nullptr && ::strcmp(name, text) == 0) found = s;
  return std::ranges::find(of_faults, found) == std::end(of_faults) ? found : 0;
}

void tell_on_signal(const char* name) noexcept {
  struct sigaction ours{};
  ours.sa_sigaction = on_signal;
  ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  ::sigemptyset(&ours.sa_mask);
  const int signal = signal_of(name);
  if (signal == 0 || ::sigaction(signal, nullptr, &before_ours) != 0 ||
      ::sigaction(signal, &ours, nullptr) != 0)
    report_text(STDERR_FILENO) << "mallard-malloc: MALLARD_MALLOC_SIGNAL: " << name
                               << " is no signal to report at: try USR2\n";
}

// Where the library is initialised first, the C library has not looked for the environment yet.
[[gnu::constructor(102)]] void read_options(int, char**, char** environment) noexcept {
  if (__environ == nullptr) __environ = environment;
  const int saved_errno = errno;
  const std::size_t decay = option("MALLARD_MALLOC_DECAY_MS", shared_segments::default_keep_time);
  the_segments.set_keep_time(static_cast<std::uint32_t>(std::min<std::size_t>(decay, UINT32_MAX)));
  the_segments.set_huge_pages(option("MALLARD_MALLOC_HUGE_PAGES", 0) != 0);
  if (const char* const text = ::secure_getenv("MALLARD_MALLOC_STATS"); text != nullptr && *text != 0) {
    tells_at_exit = !is_number(text) || ::strtoul(text, nullptr, 10) != 0;
    if (!is_number(text)) read_destination(text);
  }
  if (const char* const text = ::secure_getenv("MALLARD_MALLOC_SIGNAL"); text != nullptr && *text != 0)
    tell_on_signal(text);
  errno = saved_errno;
}

[[gnu::destructor(102)]] void tell_at_exit() noexcept {
  if (tells_at_exit) tell();
}

}  // namespace
}  // namespace mallard::malloc_library

using namespace mallard::malloc_library;

MALLARD_ENTRY void mallard_malloc_stats() noexcept {
  const int saved_errno = errno;
  tell_table(STDERR_FILENO);
  errno = saved_errno;
}

MALLARD_ENTRY struct mallinfo2 mallinfo2() noexcept {
  const mallard::segments_usage u = the_segments.usage();
  const sums all = sum_of_heaps();
  std::size_t in_slabs = 0;
  for (std::size_t i = 0; i != heap::classes::count; ++i) in_slabs += all.blocks[i] * heap::classes::size(i);
  struct mallinfo2 result;
  memset(&result, 0, sizeof result);
  result.arena = u.used + u.dirty;
  result.uordblks = std::min(in_slabs + (u.used - std::min(u.used, all.bytes)), result.arena);
  result.fordblks = result.arena - result.uordblks;
  result.keepcost = u.dirty;
  return result;
}
