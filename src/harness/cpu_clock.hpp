// CPU time of the calling thread, or of the whole process, in nanoseconds: what throughput is
// measured in.
//
// It does not advance while the thread waits or another program runs. Reading it is one system
// call's worth (about 100 ns), so that it stands around passes, never around single operations.
#pragma once

#include <cstdint>
#include <ctime>

namespace mallard::harness {

namespace detail {

inline std::uint64_t clock_ns(clockid_t clock) noexcept {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace detail

[[nodiscard]] inline std::uint64_t thread_cpu_ns() noexcept {
  return detail::clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

[[nodiscard]] inline std::uint64_t process_cpu_ns() noexcept {
  return detail::clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

}  // namespace mallard::harness
