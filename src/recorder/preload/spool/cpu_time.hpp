// The CPU time of this process so far, as the spool has it.
#pragma once

#include <time.h>

#include <cstdint>

namespace mallard::recorder {

[[nodiscard]] inline std::uint64_t cpu_ns_of_process() noexcept {
  timespec used{};
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) != 0) return 0;
  return static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(used.tv_nsec);
}

}  // namespace mallard::recorder
