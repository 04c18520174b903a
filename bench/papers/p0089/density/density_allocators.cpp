#include "contest/columns.hpp"
#include "p0089/density/density.hpp"
#include "p0089/density/density_ways.hpp"

namespace mallard::bench {
namespace {

struct density_in {
  static constexpr bool winks_out = true;

  template <class Way>
  static void typed(destruction end, page& p) {
    measure_density_in(Way(), end, p);
  }
  template <class Maker>
  static void pmr(destruction end, page& p) {
    Maker maker;
    measure_density_in(pmr_way{&maker}, end, p);
  }
};

std::vector<contestant> all() {
  std::vector<contestant> list;
  add_papers<density_in>(list);
  add_mallocs<density_in>(list);
  add_unsynchronised<density_in>(list);
  add_synchronised<density_in>(list);
  add_own<density_in>(list);
  return list;
}

}  // namespace

std::span<const contestant> density_contestants() {
  static const std::vector<contestant> list = all();
  return list;
}

}  // namespace mallard::bench
