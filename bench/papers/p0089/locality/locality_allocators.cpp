#include "contest/columns.hpp"
#include "p0089/locality/locality.hpp"
#include "p0089/locality/locality_pmr.hpp"
#include "p0089/locality/measure_locality.hpp"

namespace mallard::bench {
namespace {

struct locality_in {
  static constexpr bool winks_out = false;

  // All is left as it is: the process ends with it.
  template <class Way>
  static void typed(destruction, page& p) {
    Way way;
    static_cast<void>(measure_locality(way, p).release());
  }
  template <class Maker>
  static void pmr(destruction, page& p) {
    measure_locality_in(owned_pmr<Maker>(), p);
  }
};

std::vector<contestant> all() {
  std::vector<contestant> list;
  add_malloc<locality_in>(list, *harness::find_foreign_malloc("glibc"), "AS1");
  add_heap<locality_in, multipool>(list, "multipool", {"AS7", "", "AS9", ""});
  add_typed<locality_in, typed_way<fifo_multipool>>(list, "fifo_multipool");
  add_mallocs<locality_in>(list);
  harness::for_each_foreign_resource([&]<class Resource>(harness::foreign_resource<Resource> line) {
    if constexpr (!harness::only_grows<Resource> && !harness::is_synchronised<Resource>)
      add_foreign_pmr<locality_in>(list, line);
  });
  return list;
}

}  // namespace

std::span<const contestant> locality_contestants() {
  static const std::vector<contestant> list = all();
  return list;
}

}  // namespace mallard::bench
