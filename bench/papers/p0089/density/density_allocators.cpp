#include "common/columns.hpp"
#include "p0089/density/density.hpp"

namespace mallard::bench {
namespace {

struct density_in {
  static constexpr bool winks_out = true;

  template <class Binding>
  static void typed(destruction end, page& p) {
    Binding binding;
    measure_density(binding, end, p);
  }
  template <class Maker>
  static void pmr(destruction end, page& p) {
    Maker maker;
    pmr_binding binding{&maker};
    measure_density(binding, end, p);
  }
};

std::vector<measured_allocator> all() {
  std::vector<measured_allocator> list;
  add_papers<density_in>(list);
  add_mallocs<density_in>(list);
  add_unsynchronised<density_in>(list);
  add_synchronised<density_in>(list);
  add_own<density_in>(list);
  // Without virtual calls, too; below add_own, which leaves out what is there already.
  add_typed<density_in, typed_binding<lifo_multipool>>(list, "lifo_multipool");
  add_typed<density_in, typed_binding<sized_reap>>(list, "sized_reap");
  return list;
}

}  // namespace

std::span<const measured_allocator> density_allocators() {
  static const std::vector<measured_allocator> list = all();
  return list;
}

}  // namespace mallard::bench
