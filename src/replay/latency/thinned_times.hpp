// thinned_times: as many times of single operations as a scatter plot can show, every extreme among them.
//
//     ns   |   .  x .      |       x       |        of each call, in each cell of the grid the slowest: x
//          | x . .  .  x   |  x  . .. x    |        and in each stretch the fastest
//     ops  +---------------+---------------+--->    stretches of as many operations, steps of equal ratio
//
// A grid of 512 stretches with 16 steps to a doubling is finer than a screen; it is made coarser until few
// enough times are left. Where there are few, all are kept. O(ops).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "harness/operation_clock.hpp"
#include "replay/latency/latencies.hpp"
#include "replay/latency/located_operation.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::replay {

struct time_grid {
  unsigned stretches;
  unsigned steps_per_doubling;
};

struct thinned_times {
  static constexpr std::size_t most = 4000;

  std::vector<located_operation> kept;  // by op
  std::optional<time_grid> grid;        // nothing: all are kept
};

namespace detail {

// The next coarser grid; each of its cells is several whole cells of this one.
[[nodiscard]] constexpr time_grid coarser(time_grid g) noexcept {
  const bool by_time = g.steps_per_doubling > 1 && g.steps_per_doubling * 128 >= g.stretches;
  return by_time ? time_grid{g.stretches, g.steps_per_doubling / 2}
                 : time_grid{g.stretches / 2, g.steps_per_doubling};
}

// Of some ops, in order and without second halves of reallocations, those that the grid keeps.
class thinning {
 public:
  thinning(std::span<const op> ops, std::span<const std::uint32_t> ticks, time_grid grid)
      : ops_(ops), ticks_(ticks), grid_(grid) {}

  [[nodiscard]] std::vector<std::uint32_t> keep(std::span<const std::uint32_t> from) {
    std::vector<std::uint32_t> kept;
    std::uint64_t stretch = 0;
    for (const std::uint32_t i : from) {
      if (const std::uint64_t own = stretch_of(i); own != stretch) {
        flush(kept);
        stretch = own;
      }
      consider(i);
    }
    flush(kept);
    return kept;
  }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;

  struct of_call {
    std::map<unsigned, std::uint32_t> slowest;  // by step
    std::uint32_t fastest = none;
  };

  [[nodiscard]] std::uint64_t stretch_of(std::uint64_t i) const noexcept {
    return i * grid_.stretches / ops_.size();
  }

  [[nodiscard]] unsigned step_of(std::uint32_t ticks) const noexcept {
    return static_cast<unsigned>(std::log2(static_cast<double>(ticks) + 1) * grid_.steps_per_doubling);
  }

  void consider(std::uint32_t i) {
    of_call& c = calls_[static_cast<std::size_t>(operation_of(ops_[i].kind))];
    const auto [at, is_first] = c.slowest.try_emplace(step_of(ticks_[i]), i);
    if (!is_first && ticks_[i] > ticks_[at->second]) at->second = i;
    if (c.fastest == none || ticks_[i] < ticks_[c.fastest]) c.fastest = i;
  }

  void flush(std::vector<std::uint32_t>& kept) {
    const auto begin = static_cast<std::ptrdiff_t>(kept.size());
    for (of_call& c : calls_) {
      for (const auto& [step, i] : c.slowest) kept.push_back(i);
      if (c.fastest != none) kept.push_back(c.fastest);
      c = {};
    }
    std::sort(kept.begin() + begin, kept.end());
    kept.erase(std::unique(kept.begin() + begin, kept.end()), kept.end());
  }

  std::span<const op> ops_;
  std::span<const std::uint32_t> ticks_;
  time_grid grid_;
  std::array<of_call, all_operations.size()> calls_;
};

}  // namespace detail

// `ticks`: one for each of the program's ops.
[[nodiscard]] inline thinned_times thin_out(const trace& t, std::span<const std::uint32_t> ticks,
                                            const harness::operation_clock& clock) {
  thinned_times found;
  const std::span<const op> ops = t.recorded_ops();
  std::vector<std::uint32_t> kept(ops.size());
  std::iota(kept.begin(), kept.end(), 0u);
  std::erase_if(kept, [&](std::uint32_t i) { return ops[i].kind == op_kind::resized_from; });
  for (time_grid g{512, 16}; kept.size() > thinned_times::most && g.stretches != 0; g = detail::coarser(g)) {
    kept = detail::thinning(ops, ticks, g).keep(kept);
    found.grid = g;
  }
  std::vector<slow_operation> times;
  times.reserve(kept.size());
  for (const std::uint32_t i : kept) times.push_back({.op = i, .ns = clock.ns(ticks[i])});
  found.kept = locate(t, times);
  return found;
}

}  // namespace mallard::replay
