#include "harness/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace mallard::harness {

double quantile(std::vector<double> figures, double part) {
  std::sort(figures.begin(), figures.end());
  const double place = part * static_cast<double>(figures.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, figures.size() - 1);
  return std::lerp(figures[below], figures[above], place - static_cast<double>(below));
}

double median(std::vector<double> figures) { return quantile(std::move(figures), 0.5); }

summary summarise(const std::vector<double>& figures) {
  return {median(figures), {quantile(figures, 0.1), quantile(figures, 0.9)}};
}

double relative_width(const summary& s) {
  return s.median == 0 ? 0 : (s.around.high - s.around.low) / std::abs(s.median);
}

bool apart(const spread& a, const spread& b) { return a.high < b.low || b.high < a.low; }

}  // namespace mallard::harness
