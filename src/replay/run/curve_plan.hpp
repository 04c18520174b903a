// curve_plan: where a curve over a trace has its points, before any allocator has run.
//
//     ops      |------------|------------|------------|     499 stretches of as many operations each
//     stops          !      !         !  !  !         !     where most is live in each, and its end
//
// The moment of most live bytes of the whole trace is among them. Where there are few enough operations, each
// is a stop. The ends that the program left out are not part of it. Made by one walk; afterwards a stop knows
// what is live there, so that a pass that is measured from outside has nothing to count. O(ops).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "replay/run/held_curve.hpp"
#include "replay/trace/live_walk.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::replay {

struct curve_stop {
  std::size_t op = 0;            // index behind the last one of the stretch
  std::uint64_t event = 0;       // operations up to there
  std::uint64_t live = 0;        // bytes there
  std::uint64_t regions = 0;     // alive there
  double inverse_live = 0;       // sum of 1/live after each operation since the stop before
  std::uint64_t operations = 0;  // how many these are: those after which something is live
};

class curve_plan {
 public:
  explicit curve_plan(const trace& t) {
    const std::size_t ops = t.facts().recorded_ops;
    const std::uint64_t operations = operations_in(t, ops);
    const bool all = operations <= stops_.size();
    const std::uint64_t stretches = all ? operations : stops_.size() / 2;
    const auto stretch_of = [&](std::uint64_t event) { return (event - 1) * stretches / operations; };

    curve_stop since;    // what has been walked since the last stop
    curve_stop fullest;  // the same, up to where most is live in this stretch
    live_walk walk(t);
    for (std::size_t i = 0; i < ops; ++i) {
      if (!walk.next()) continue;
      since.op = i + 1;
      since.event = walk.operations();
      since.live = walk.bytes();
      since.regions = walk.regions();
      if (since.live != 0) {
        since.inverse_live += 1 / static_cast<double>(since.live);
        ++since.operations;
      }
      if (fullest.op == 0 || since.live > fullest.live) fullest = since;
      if (since.event != operations && stretch_of(since.event) == stretch_of(since.event + 1)) continue;
      if (fullest.op != since.op) {
        stops_[count_++] = fullest;
        since.inverse_live -= fullest.inverse_live;
        since.operations -= fullest.operations;
      }
      stops_[count_++] = since;
      since = fullest = {};
    }
    fullest_ =
        static_cast<std::size_t>(std::ranges::max_element(stops(), {}, &curve_stop::live) - stops().begin());
  }

  [[nodiscard]] std::span<const curve_stop> stops() const noexcept { return std::span(stops_).first(count_); }

  // The index of the stop where most is live, the first of them.
  [[nodiscard]] std::size_t fullest() const noexcept { return fullest_; }

 private:
  static std::uint64_t operations_in(const trace& t, std::size_t ops) {
    live_walk walk(t);
    for (std::size_t i = 0; i < ops; ++i) walk.next();
    return walk.operations();
  }

  std::array<curve_stop, curve_recorder::most_stretches> stops_;
  std::size_t count_ = 0;
  std::size_t fullest_ = 0;
};

}  // namespace mallard::replay
