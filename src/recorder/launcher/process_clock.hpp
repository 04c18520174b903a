// The CPU time of another process, without that of its children.
#pragma once

#include <sys/types.h>
#include <time.h>

#include <cstdint>

namespace mallard::recorder {

// 0 if the process is gone; one that has ended is not as long as nobody has waited for it.
[[nodiscard]] inline std::uint64_t cpu_ns_of(pid_t process) noexcept {
  clockid_t clock{};
  timespec used{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &used) != 0) return 0;
  return static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(used.tv_nsec);
}

}  // namespace mallard::recorder
