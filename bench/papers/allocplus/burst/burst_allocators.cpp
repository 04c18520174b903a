#include "allocplus/allocplus_columns.hpp"
#include "allocplus/burst/burst_ranges.hpp"
#include "allocplus/burst/measure_burst.hpp"
#include "allocplus/floor/places_in_row.hpp"
#include "allocplus/without_bursts.hpp"

namespace mallard::bench {
namespace {

struct burst_in {
  // A node is two links and an element.
  static std::size_t live_bytes(const page& p) {
    return (std::size_t{p.asked.burst.elements} * p.asked.burst.iterations + 1) * 3 * sizeof(void*);
  }

  template <class Way>
  static void measure(Way& way, page& p) {
    measure_burst(way, p);
  }
};

std::vector<contestant> all() {
  std::vector<contestant> list;
  add_plain<burst_in, places_in_row>(list);
  add_way<burst_in, v2_way<without_bursts<best_fit>>>(list, "V2one", "best_fit");
  add_version_2<burst_in>(list, "boost.V2", "V2");
  add_locked<burst_in>(list);
  add_other_mallocs<burst_in>(list);
  return list;
}

}  // namespace

std::span<const contestant> burst_contestants() {
  static const std::vector<contestant> list = all();
  return list;
}

}  // namespace mallard::bench
