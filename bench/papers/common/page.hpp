// page: the memory between the tool and one worker: what to measure, and what came out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/setting.hpp"
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
  std::array<std::uint64_t, most_counts> counted{};  // what, is the benchmark's affair, too
  std::uint64_t page_faults = 0;                     // of the first life of a heap in the process
  std::uint64_t max_held = 0;                        // bytes resident at most, above what was resident before
  double failed_locks = -1;  // the share of lock attempts that found the lock taken; -1: not counted
};

}  // namespace mallard::bench
