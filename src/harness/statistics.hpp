// What a set of repeated figures is summarised by: median and spread.
//
//     low            median        high
//      |---------------|------------|      the 10th and the 90th of 100 parts, linear between the
//     10 %            50 %         90 %    two nearest figures
//
// Medians and quantiles, not means: one disturbed round must not move the result. O(n log n).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace mallard::harness {

struct spread {
  double low = 0;
  double high = 0;
};

struct summary {
  double median = 0;
  spread around;
};

// The figure below which `part` (0..1) of the figures lie; precondition: not empty.
[[nodiscard]] inline double quantile(std::vector<double> figures, double part) {
  std::sort(figures.begin(), figures.end());
  const double place = part * static_cast<double>(figures.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, figures.size() - 1);
  return std::lerp(figures[below], figures[above], place - static_cast<double>(below));
}

[[nodiscard]] inline double median(std::vector<double> figures) { return quantile(std::move(figures), 0.5); }

[[nodiscard]] inline summary summarise(const std::vector<double>& figures) {
  return {median(figures), {quantile(figures, 0.1), quantile(figures, 0.9)}};
}

// Width of the spread over the median: 0.1 is ten percent.
[[nodiscard]] inline double relative_width(const summary& s) {
  return s.median == 0 ? 0 : (s.around.high - s.around.low) / std::abs(s.median);
}

// True if the two spreads have no figure in common: the difference is beyond noise.
[[nodiscard]] inline bool apart(const spread& a, const spread& b) { return a.high < b.low || b.high < a.low; }

}  // namespace mallard::harness
