// Pinning: keeps a thread on the processor that it is on, whose caches and counter its figures are of.
#pragma once

#include <sched.h>

namespace mallard::harness {

// Of the calling thread. False where the kernel does not allow it; the thread then may move as before.
inline bool stay_on_this_cpu() noexcept {
  const int cpu = ::sched_getcpu();
  if (cpu < 0) return false;
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(static_cast<unsigned>(cpu), &only);
  return ::sched_setaffinity(0, sizeof only, &only) == 0;
}

}  // namespace mallard::harness
