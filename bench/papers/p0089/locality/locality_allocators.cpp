#include "common/columns.hpp"
#include "p0089/locality/locality.hpp"

namespace mallard::bench {
namespace {

struct locality_in {
  static constexpr bool winks_out = false;

  // All is left as it is: the process ends with it.
  template <class Binding>
  static void typed(destruction, page& p) {
    Binding binding;
    static_cast<void>(measure_locality(binding, p).release());
  }
  template <class Maker>
  static void pmr(destruction, page& p) {
    owned_pmr_binding binding = owned_pmr<Maker>();
    static_cast<void>(measure_locality(binding, p).release());
  }
};

std::vector<measured_allocator> all() {
  std::vector<measured_allocator> list;
  add_malloc<locality_in>(list, *harness::find_foreign_malloc("glibc"), "AS1");
  add_heap<locality_in, multipool>(list, "multipool", {"AS7", "", "AS9", ""});
  add_typed<locality_in, typed_binding<fifo_multipool>>(list, "fifo_multipool");
  add_mallocs<locality_in>(list);
  harness::for_each_foreign_resource([&]<class Resource>(harness::foreign_resource<Resource> line) {
    if constexpr (!harness::only_grows<Resource> && !harness::is_synchronised<Resource>)
      add_foreign_pmr<locality_in>(list, line);
  });
  return list;
}

}  // namespace

std::span<const measured_allocator> locality_allocators() {
  static const std::vector<measured_allocator> list = all();
  return list;
}

}  // namespace mallard::bench
