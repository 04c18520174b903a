// measured_allocator: one column of a table: a strategy in a binding, and how what it has allocated ends.
//
//     AS1      operator new, typed              AS2       operator new through std::pmr
//     AS3-AS6  monotonic                        odd: destroyed in order
//     AS7-AS10 multipool                        even: winked out (the heap's end takes all)
//     AS11-AS14 multipool over monotonic        the first two of four typed, the others through std::pmr
//
// Beyond the paper: other mallocs under AS1, other resources under the pmr columns. Seed 000, section 4.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/page.hpp"
#include "harness/binding.hpp"
#include "harness/foreign_malloc.hpp"

namespace mallard::bench {

using harness::binding;

// The floor of a benchmark that has one: what its work takes without an allocator. It takes part in each
// session.
inline constexpr const char* floor_strategy = "none";

enum class destruction { normal, winkout };

[[nodiscard]] constexpr std::string_view name_of(destruction d) noexcept {
  return d == destruction::normal ? "normal" : "winkout";
}

struct measured_allocator {
  std::string label;  // "AS7"; empty: not one of the paper's
  std::string strategy;
  binding bound;
  destruction ends;
  void (*run)(page&);  // measures, in a worker
  const harness::foreign_malloc* beneath =
      nullptr;  // the malloc of the worker's process; null: the usual one

  // "AS7 multipool", "std.pool", "std.pool winkout"
  [[nodiscard]] std::string name() const {
    if (!label.empty()) return label + " " + strategy;
    return ends == destruction::winkout ? strategy + " winkout" : strategy;
  }
};

// Whether a user who writes `asked` ("AS7", "multipool") means this one.
[[nodiscard]] inline bool is_meant(const measured_allocator& c, std::string_view asked) {
  return asked == c.strategy || (!c.label.empty() && asked == c.label);
}

}  // namespace mallard::bench
