// What a set of repeated figures is summarised by: median and spread.
//
//     low            median        high
//      |---------------|------------|      the 10th and the 90th of 100 parts, linear between the
//     10 %            50 %         90 %    two nearest figures
//
// Medians and quantiles, not means: one disturbed round must not move the result. O(n log n).
#pragma once

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
[[nodiscard]] double quantile(std::vector<double> figures, double part);

[[nodiscard]] double median(std::vector<double> figures);

[[nodiscard]] summary summarise(const std::vector<double>& figures);

// Width of the spread over the median: 0.1 is ten percent.
[[nodiscard]] double relative_width(const summary& s);

// True if the two spreads have no figure in common: the difference is beyond noise.
[[nodiscard]] bool apart(const spread& a, const spread& b);

}  // namespace mallard::harness
