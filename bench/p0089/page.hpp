// page: the memory between the tool and one worker: what to measure, and what came out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "harness/work.hpp"
#include "p0089/setting.hpp"

namespace mallard::p0089 {

// Times of one event (a leaf, an access, a pair), in ns. Wall time is 0 where CPU time is all that counts.
struct figure {
  double cold_ns = 0;
  double warm_ns = 0;
  double wall_ns = 0;
};

inline constexpr std::size_t most_figures = 64;

struct page : harness::work_report {
  explicit page(const setting& s) : asked(s) {}

  // In.
  setting asked;
  std::uint64_t memory_limit = 0;  // bytes

  // Out, with the report. How many figures a benchmark finds is its own affair (benchmarks.hpp).
  std::array<figure, most_figures> found{};
  std::uint64_t page_faults = 0;  // of the first life of a heap in the process
  std::uint64_t max_held = 0;     // bytes resident at most, above what was resident before
  double failed_locks = -1;       // the share of lock attempts that found the lock taken; -1: not counted
};

}  // namespace mallard::p0089
