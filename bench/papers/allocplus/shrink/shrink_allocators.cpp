#include "allocplus/allocplus_columns.hpp"
#include "allocplus/floor/one_place.hpp"
#include "allocplus/shrink/measure_shrink.hpp"
#include "allocplus/shrink/shrink.hpp"

namespace mallard::bench {
namespace {

struct shrink_in {
  static std::size_t live_bytes(const page& p) { return p.asked.shrink.elements * sizeof(my_int); }

  template <class Way>
  static void measure(Way& way, page& p) {
    measure_shrink(way, p);
  }
};

std::vector<contestant> all() {
  std::vector<contestant> list;
  add_plain<shrink_in, one_place>(list);
  add_version_2<shrink_in>(list, "boost.V2", "V2");
  add_locked<shrink_in>(list);
  add_other_mallocs<shrink_in>(list);
  return list;
}

}  // namespace

std::span<const contestant> shrink_contestants() {
  static const std::vector<contestant> list = all();
  return list;
}

}  // namespace mallard::bench
