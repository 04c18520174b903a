// held_curve: what was live, granted and held over a pass, as points; and curve_recorder, which makes them.
//
//     held    |        /\ highest: a point of its own
//             |   /\__/  \___
//     ops     +---------------------->
//     points      |    | |     |        each: the lowest and the highest since the one before it
//
// Thinning out loses no extreme: a point is a stretch of operations, and keeps both of its extremes. Where
// the highest moment of all lies inside a stretch, the stretch ends there and another one follows. Plain data
// in the job's page; recording allocates nothing. O(1) an operation.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "mallard/core/check.hpp"

namespace mallard::replay {

// In place of bytes that nobody could tell.
inline constexpr std::uint64_t unknown_bytes = ~std::uint64_t{0};

struct curve_point {
  std::uint64_t event = 0;  // operations done
  std::uint64_t live = 0;   // bytes, after them
  std::uint64_t granted = unknown_bytes;
  std::uint64_t held_min = unknown_bytes;  // bytes, the lowest since the point before
  std::uint64_t held_max = 0;
};

// What the four measures of fragmentation are made of (output/fragmentation.hpp).
struct curve_marks {
  double mean_ratio = 0;  // of held over live, over all operations after which something is live; 0: never
  std::uint64_t held_at_max_live = 0;  // bytes
  std::uint64_t max_held = 0;
  std::uint64_t live_at_max_held = 0;  // when that is reached first
};

struct held_curve {
  static constexpr std::size_t most_points = 1000;

  std::uint64_t count = 0;
  std::array<curve_point, most_points> points{};
  std::uint64_t walks_left_out = 0;  // as they would have been slow (curve_pass.hpp)
  curve_marks marks;
};

class curve_recorder {
 public:
  // How often close() may be called: the highest moment may become a point, too.
  static constexpr std::size_t most_stretches = held_curve::most_points - 1;

  // Into an empty curve.
  explicit curve_recorder(held_curve& into) noexcept : curve_(into) {}

  // After an operation: how many are done, what is live, and between which bytes held was since the last
  // call.
  void add(std::uint64_t event, std::uint64_t live, std::uint64_t lowest, std::uint64_t highest) noexcept {
    include(open_, lowest, highest);
    open_.event = event;
    open_.live = live;
    if (highest <= curve_.marks.max_held) return;
    curve_.marks.max_held = highest;
    curve_.marks.live_at_max_held = live;
    forget_highest();
    highest_ = open_;
    highest_is_in_ = curve_.count;
    open_ = {};
  }

  // These operations, the sum of 1/live after each of them, and what was held meanwhile count in the mean.
  // Operations after which nothing is live do not.
  void weigh(double held, double inverse_live, std::uint64_t operations) noexcept {
    ratios_ += held * inverse_live;
    operations_ += operations;
  }

  // What was added since the last call becomes a point. Precondition: something was.
  void close(std::uint64_t granted) noexcept {
    MALLARD_CHECK(curve_.count < most_stretches);
    if (is_empty(open_)) {  // the stretch ends with the highest moment
      open_ = highest_;
      highest_is_in_ = nowhere;
    }
    open_.granted = granted;
    curve_.points[curve_.count++] = open_;
    open_ = {};
  }

  // At the end, after the last close().
  void finish() noexcept {
    if (operations_ != 0) curve_.marks.mean_ratio = ratios_ / static_cast<double>(operations_);
    if (highest_is_in_ == nowhere) return;
    const auto place = curve_.points.begin() + static_cast<std::ptrdiff_t>(highest_is_in_);
    const auto end = curve_.points.begin() + static_cast<std::ptrdiff_t>(curve_.count);
    std::move_backward(place, end, end + 1);
    *place = highest_;
    ++curve_.count;
  }

 private:
  static constexpr std::size_t nowhere = ~std::size_t{0};

  static bool is_empty(const curve_point& p) noexcept { return p.held_min == unknown_bytes; }

  static void include(curve_point& p, std::uint64_t lowest, std::uint64_t highest) noexcept {
    p.held_min = std::min(p.held_min, lowest);
    p.held_max = std::max(p.held_max, highest);
  }

  // It is the highest no longer: its extremes go to the rest of the stretch that it was in.
  void forget_highest() noexcept {
    if (highest_is_in_ == nowhere) return;
    curve_point& rest = highest_is_in_ == curve_.count ? open_ : curve_.points[highest_is_in_];
    include(rest, highest_.held_min, highest_.held_max);
  }

  held_curve& curve_;
  curve_point open_;                     // since the last point, or since the highest moment
  curve_point highest_;                  // up to it, where it is no point yet
  std::size_t highest_is_in_ = nowhere;  // the index of the stretch that it is in
  double ratios_ = 0;
  std::uint64_t operations_ = 0;
};

}  // namespace mallard::replay
