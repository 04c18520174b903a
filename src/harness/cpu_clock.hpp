// CPU time of the calling thread, in nanoseconds: what throughput is measured in.
//
// It does not advance while the thread waits or another program runs. Reading it is one system
// call's worth (about 100 ns), so that it stands around passes, never around single operations.
#pragma once

#include <cstdint>
#include <ctime>

namespace mallard::harness {

[[nodiscard]] inline std::uint64_t thread_cpu_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace mallard::harness
