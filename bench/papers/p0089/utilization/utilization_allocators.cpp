#include "common/columns.hpp"
#include "p0089/utilization/utilization.hpp"

namespace mallard::bench {
namespace {

// What is alive in the end is a small part of all: winking it out could not tell, and the paper does not.
struct utilization_in {
  static constexpr bool winks_out = false;

  template <class Binding>
  static void typed(destruction, page& p) {
    Binding binding;
    measure_utilization(binding, p);
  }
  template <class Maker>
  static void pmr(destruction, page& p) {
    Maker maker;
    pmr_binding binding{&maker};
    measure_utilization(binding, p);
  }
};

std::vector<measured_allocator> all() {
  std::vector<measured_allocator> list;
  add_papers<utilization_in>(list);
  add_mallocs<utilization_in>(list);
  add_unsynchronised<utilization_in>(list);
  add_synchronised<utilization_in>(list);
  return list;
}

}  // namespace

std::span<const measured_allocator> utilization_allocators() {
  static const std::vector<measured_allocator> list = all();
  return list;
}

}  // namespace mallard::bench
