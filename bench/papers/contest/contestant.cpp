#include "contest/contestant.hpp"

namespace mallard::bench {

std::string contestant::name() const {
  if (!label.empty()) return label + " " + strategy;
  return ends == destruction::winkout ? strategy + " winkout" : strategy;
}

bool is_meant(const contestant& c, std::string_view asked) {
  return asked == c.strategy || (!c.label.empty() && asked == c.label);
}

}  // namespace mallard::bench
