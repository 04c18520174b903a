// meter: the memory that an allocator takes, from where its work begins.
//
//     meter made | first life of the heap | first_is_over() | ... | write(page)
//                        page faults                                most bytes resident
//
// Made after all that the benchmark itself needs; it maps the program's code in, so that what is added is the
// allocator's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/page.hpp"
#include "harness/cpu_clock.hpp"
#include "harness/memory_meter.hpp"

namespace mallard::bench {

class meter {
 public:
  meter() {
    harness::map_in_code();
    harness::reset_peak();
    resident_ = harness::peak_resident();
    faults_ = harness::page_faults();
  }

  void first_is_over() { faults_ = harness::page_faults() - faults_; }

  // Precondition: the first life is over.
  void write(page& into) const {
    const std::size_t peak = harness::peak_resident();
    into.max_held = peak > resident_ ? peak - resident_ : 0;
    into.page_faults = faults_;
  }

 private:
  std::size_t resident_;
  std::uint64_t faults_;
};

// One pass cold, then so many warm, on a fresh process. pass(): has `events` events.
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
