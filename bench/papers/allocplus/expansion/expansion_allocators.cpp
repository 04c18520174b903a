#include "allocplus/allocplus_columns.hpp"
#include "allocplus/expansion/expansion.hpp"
#include "allocplus/expansion/measure_expansion.hpp"
#include "allocplus/floor/one_place.hpp"

namespace mallard::bench {
namespace {

struct expansion_in {
  static std::size_t live_bytes(const page& p) { return 4 * p.asked.expansion.elements * sizeof(my_int); }

  template <class Way>
  static void measure(Way& way, page& p) {
    measure_expansion(way, p);
  }
};

std::vector<contestant> all() {
  using namespace commands;
  std::vector<contestant> list;
  add_plain<expansion_in, one_place>(list);
  add_version_2<expansion_in, expand_fwd | expand_bwd>(list, "boost.V2new", "V2new");
  add_version_2<expansion_in, expand_fwd>(list, "boost.V2bwd", "V2bwd");
  add_version_2<expansion_in, expand_bwd>(list, "boost.V2fwd", "V2fwd");
  add_version_2<expansion_in>(list, "boost.V2", "V2");
  add_locked<expansion_in>(list);
  add_other_mallocs<expansion_in>(list);
  return list;
}

}  // namespace

std::span<const contestant> expansion_contestants() {
  static const std::vector<contestant> list = all();
  return list;
}

}  // namespace mallard::bench
