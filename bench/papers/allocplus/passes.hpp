// measure_passes: one pass cold, then so many warm, on a fresh process.
#pragma once

#include <cstdint>

#include "common/meter.hpp"
#include "common/page.hpp"
#include "harness/cpu_clock.hpp"

namespace mallard::bench {

// pass(): has `events` events.
template <class Pass>
void measure_passes(page& p, std::uint64_t events, std::uint64_t passes, Pass pass) {
  meter memory;
  const std::uint64_t start = harness::thread_cpu_ns();
  pass();
  const std::uint64_t warm = harness::thread_cpu_ns();
  memory.first_is_over();
  for (std::uint64_t i = 0; i < passes; ++i) pass();
  const std::uint64_t end = harness::thread_cpu_ns();
  p.found[0] = {static_cast<double>(warm - start) / static_cast<double>(events),
                static_cast<double>(end - warm) / static_cast<double>(passes * events),
                {}};
  memory.write(p);
}

}  // namespace mallard::bench
