#include "contest/columns.hpp"
#include "p0089/utilization/measure_utilization.hpp"
#include "p0089/utilization/utilization.hpp"
#include "p0089/utilization/utilization_pmr.hpp"

namespace mallard::bench {
namespace {

// What is alive in the end is a small part of all: winking it out could not tell, and the paper does not.
struct utilization_in {
  static constexpr bool winks_out = false;

  template <class Way>
  static void typed(destruction, page& p) {
    Way way;
    measure_utilization(way, p);
  }
  template <class Maker>
  static void pmr(destruction, page& p) {
    Maker maker;
    measure_utilization_in(pmr_way{&maker}, p);
  }
};

std::vector<contestant> all() {
  std::vector<contestant> list;
  add_papers<utilization_in>(list);
  add_mallocs<utilization_in>(list);
  add_unsynchronised<utilization_in>(list);
  add_synchronised<utilization_in>(list);
  return list;
}

}  // namespace

std::span<const contestant> utilization_contestants() {
  static const std::vector<contestant> list = all();
  return list;
}

}  // namespace mallard::bench
