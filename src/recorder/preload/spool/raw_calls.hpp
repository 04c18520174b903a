// raw_calls: system calls that are no cancellation points, that nobody can interpose and that leave errno
// alone. A result below 0 is the negated error. And private memory directly from the system, which nobody can
// intercept.
//
// A call for which a filter of the program would kill it is not made, and has failed with not_permitted.
// While one is made, the spool says so: if it kills the program all the same, the launcher can tell.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "recorder/clock.hpp"
#include "recorder/preload/spool/call_filter.hpp"
#include "recorder/preload/state/recorder_state.hpp"

namespace mallard::recorder {

// Into the kernel, whatever it may be.
inline long enter_kernel(const system_call& call) noexcept {
#if defined(__x86_64__)
  long result = static_cast<long>(call.number);
  register std::uint64_t fourth __asm__("r10") = call.arguments[3];
  register std::uint64_t fifth __asm__("r8") = call.arguments[4];
  register std::uint64_t sixth __asm__("r9") = call.arguments[5];
  __asm__ volatile("syscall"
                   : "+a"(result)
                   : "D"(call.arguments[0]), "S"(call.arguments[1]), "d"(call.arguments[2]), "r"(fourth),
                     "r"(fifth), "r"(sixth)
                   : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register std::uint64_t number __asm__("x8") = call.number;
  register std::uint64_t first __asm__("x0") = call.arguments[0];
  register std::uint64_t second __asm__("x1") = call.arguments[1];
  register std::uint64_t third __asm__("x2") = call.arguments[2];
  register std::uint64_t fourth __asm__("x3") = call.arguments[3];
  register std::uint64_t fifth __asm__("x4") = call.arguments[4];
  register std::uint64_t sixth __asm__("x5") = call.arguments[5];
  __asm__ volatile("svc #0"
                   : "+r"(first)
                   : "r"(number), "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(sixth)
                   : "memory");
  return static_cast<long>(first);
#endif
}

inline constexpr long not_permitted = -4095;  // no error has that number

[[nodiscard]] inline long make_raw_call(const system_call& call) noexcept {
  if (!permits_call(call)) return not_permitted;
  spool_header* spool = current_spool();
  if (spool != nullptr) {
    spool->latest_call.store(static_cast<std::uint32_t>(call.number), std::memory_order_relaxed);
    spool->open_calls.fetch_add(1, std::memory_order_relaxed);
  }
  const long result = enter_kernel(call);
  if (spool != nullptr) spool->open_calls.fetch_sub(1, std::memory_order_relaxed);
  return result;
}

[[nodiscard]] inline std::uint64_t word_of(const volatile void* argument) noexcept {
  return reinterpret_cast<std::uintptr_t>(argument);
}
template <class Number>
  requires std::integral<Number>
[[nodiscard]] inline std::uint64_t word_of(Number argument) noexcept {
  return static_cast<std::uint64_t>(argument);
}

template <class... Arguments>
[[nodiscard]] inline long raw_call(long number, Arguments... arguments) noexcept {
  return make_raw_call({static_cast<std::uint64_t>(number), {word_of(arguments)...}});
}

[[nodiscard]] inline int raw_open(const char* path, int flags, unsigned mode = 0) noexcept {
  return static_cast<int>(raw_call(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, mode));
}

inline void raw_close(int descriptor) noexcept { static_cast<void>(raw_call(SYS_close, descriptor)); }

// Reads until `size` bytes are there or the file ends; the number of bytes.
inline std::size_t raw_read(int descriptor, char* out, std::size_t size) noexcept {
  std::size_t got = 0;
  while (got < size) {
    const long more = raw_call(SYS_read, descriptor, out + got, size - got);
    if (more == -EINTR) continue;
    if (more <= 0) break;
    got += static_cast<std::size_t>(more);
  }
  return got;
}

[[nodiscard]] inline std::size_t raw_read_link(const char* path, char* out, std::size_t size) noexcept {
  const long got = raw_call(SYS_readlinkat, AT_FDCWD, path, out, size);
  return got < 0 ? 0 : static_cast<std::size_t>(got);
}

[[nodiscard]] inline bool raw_exists(const char* path) noexcept {
  return raw_call(SYS_faccessat, AT_FDCWD, path, F_OK) == 0;
}

inline void raw_unlink(const char* path) noexcept {
  static_cast<void>(raw_call(SYS_unlinkat, AT_FDCWD, path, 0));
}

// Of this process as the kernel knows it now, also in a vfork'ed child.
[[nodiscard]] inline unsigned raw_process() noexcept { return static_cast<unsigned>(raw_call(SYS_getpid)); }

// CPU time of this process; 0 if it may not ask.
[[nodiscard]] inline std::uint64_t raw_cpu_ns() noexcept {
  timespec used{};
  return raw_call(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &used) == 0 ? ns_of(used) : 0;
}

// As mmap has it; null where that fails.
[[nodiscard]] inline void* raw_map(void* where, std::size_t bytes, int flags, int descriptor,
                                   std::size_t begin) noexcept {
  const long mapped = raw_call(SYS_mmap, where, bytes, PROT_READ | PROT_WRITE, flags, descriptor, begin);
  return mapped < 0 ? nullptr : reinterpret_cast<void*>(mapped);
}

// What map_pages has mapped and unmap_pages has not given back; a forked child has all of it as well. A
// mapping is a word, of its place and its length in pages, among those that its address tells; 0: none. What
// finds no word there is known by its bytes alone.
inline constexpr std::size_t most_known_pages = 4096;  // mappings; a power of two
inline constinit std::atomic<std::uint64_t> known_pages[most_known_pages]{};
inline constinit std::atomic<std::size_t> bytes_of_unknown_pages{0};
inline constexpr int known_length_bits = 28;
inline constexpr std::uint64_t known_page = 4096;  // bytes

inline std::uint64_t known_as(const void* pages, std::size_t bytes) noexcept {
  return reinterpret_cast<std::uintptr_t>(pages) / known_page << known_length_bits |
         (bytes + known_page - 1) / known_page;
}

// Puts `now` in place of `before`, of which one is the mapping and the other 0; false if there is no such
// word.
inline bool exchange_known_pages(const void* pages, std::uint64_t before, std::uint64_t now) noexcept {
  constexpr std::size_t most_steps = 32;
  const std::size_t first = reinterpret_cast<std::uintptr_t>(pages) / known_page * 0x9E3779B97F4A7C15U >> 40;
  for (std::size_t i = 0; i != most_steps; ++i) {
    std::atomic<std::uint64_t>& at = known_pages[(first + i) % most_known_pages];
    std::uint64_t there = at.load(std::memory_order_relaxed);
    if (there == before && at.compare_exchange_strong(there, now, std::memory_order_relaxed)) return true;
  }
  return false;
}

// `bytes` rounded up to whole pages, zeroed; null if there are none. Nothing is taken before it is touched.
[[nodiscard]] inline void* map_pages(std::size_t bytes) noexcept {
  void* const mapped = raw_map(nullptr, bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == nullptr) return nullptr;
  if (!exchange_known_pages(mapped, 0, known_as(mapped, bytes)))
    bytes_of_unknown_pages.fetch_add(bytes, std::memory_order_relaxed);
  return mapped;
}

inline void unmap_pages(void* pages, std::size_t bytes) noexcept {
  if (pages == nullptr) return;
  if (!exchange_known_pages(pages, known_as(pages, bytes), 0))
    bytes_of_unknown_pages.fetch_sub(bytes, std::memory_order_relaxed);
  static_cast<void>(raw_call(SYS_munmap, pages, bytes));
}

inline constexpr std::size_t kernels_signal_bytes = 8;  // of a set of signals

// blocked_signals: no signal handler of this thread runs while the object lives.
//
// Where the program has forbidden itself the call, handlers do run. What they allocate on the same stack lies
// inside the interrupted call and is not recorded.
class blocked_signals {
 public:
  blocked_signals() noexcept {
    sigset_t all;
    sigfillset(&all);  // without those that libc uses itself
    blocked_ = change(&all, &before_);
  }
  ~blocked_signals() noexcept {
    if (blocked_) change(&before_, nullptr);
  }
  blocked_signals(const blocked_signals&) = delete;
  blocked_signals& operator=(const blocked_signals&) = delete;

 private:
  static bool change(const sigset_t* to, sigset_t* before) noexcept {
    return raw_call(SYS_rt_sigprocmask, SIG_SETMASK, to, before, kernels_signal_bytes) == 0;
  }

  sigset_t before_;
  bool blocked_;
};

}  // namespace mallard::recorder
