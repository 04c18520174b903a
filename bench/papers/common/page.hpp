// page: the memory between the tool and one worker: what to measure, and what came out; meter: what a worker
// writes there of memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/setting.hpp"
#include "harness/cpu_clock.hpp"
#include "harness/memory_meter.hpp"
#include "harness/work.hpp"

namespace mallard::bench {

// Times of one event (a leaf, an access, a pair), in ns; none where that is not measured.
struct figure {
  std::optional<double> cold_ns;
  double warm_ns = 0;
  std::optional<double> wall_ns;  // where CPU time is not all that counts
};

inline constexpr std::size_t most_figures = 64;
inline constexpr std::size_t most_counts = 7;
inline constexpr std::uint64_t not_counted = ~std::uint64_t{0};

struct page : harness::work_report {
  explicit page(const setting& s) : asked(s) {}

  // In.
  setting asked;
  std::uint64_t memory_limit = 0;  // bytes

  // Out, with the report. How many figures a benchmark finds is its own affair (benchmarks.hpp).
  std::array<figure, most_figures> found{};
  std::array<std::uint64_t, most_counts> counted{};  // of what: as the benchmark defines it
  std::uint64_t page_faults = 0;                     // of the first life of a heap in the process
  std::uint64_t max_held = 0;                        // bytes resident at most, above what was resident before
  double failed_locks = -1;  // the share of lock attempts that found the lock taken; -1: not counted
};

// meter: the memory that an allocator takes, from where its work begins.
//
//     meter made | first life of the heap | first_is_over() | ... | write(page)
//                        page faults                                most bytes resident
//
// Made after all that the benchmark itself needs; it maps the program's code in, so that what is added is the
// allocator's.
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

// One cold pass, then a number of warm ones, on a fresh process. pass(): has `events` events.
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
