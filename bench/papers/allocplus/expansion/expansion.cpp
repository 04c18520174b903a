#include "allocplus/expansion/expansion.hpp"

#include <nlohmann/json.hpp>

#include "allocplus/allocplus_columns.hpp"
#include "allocplus/expansion/measure_expansion.hpp"
#include "allocplus/floors.hpp"
#include "allocplus/my_int.hpp"

namespace mallard::bench {
namespace {

struct expansion_in {
  static std::size_t live_bytes(const page& p) { return 4 * p.asked.expansion.elements * sizeof(my_int); }

  template <class Binding>
  static void measure(Binding& binding, page& p) {
    measure_expansion(binding, p);
  }
};

std::vector<measured_allocator> all() {
  using namespace commands;
  std::vector<measured_allocator> list;
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

std::span<const measured_allocator> expansion_allocators() {
  static const std::vector<measured_allocator> list = all();
  return list;
}

nlohmann::ordered_json group_of(const expansion_setting& asked) {
  return {{"work", name_of(asked.work)}, {"elements", asked.elements}, {"iterations", asked.iterations}};
}

nlohmann::ordered_json method_of(const expansion_setting& asked) {
  if (asked.work == expansion_work::push_back)
    return {{"times", "CPU time of an element: a vector is made, filled by push_back and destroyed"},
            {"cold", "the first vector of a process"},
            {"counts", "of one vector, in a pass that is not timed"}};
  return {{"times",
           "CPU time of a growth from n to 2n objects: what a loop with it takes longer than one without; a "
           "block of 3n/2 objects was freed before it"},
          {"counts", "of one growth, in a pass that is not timed"}};
}

std::vector<std::string> counts_of(const expansion_setting&) {
  return {"allocations", "expansions_forward", "expansions_backward", "capacity"};
}

// A vector that moves has two blocks, of which the new one may be twice as large as is needed.
std::uint64_t bytes_needed(const expansion_setting& asked) {
  return std::uint64_t{asked.elements} * sizeof(my_int) * 8 + (std::uint64_t{1} << 20);
}

}  // namespace mallard::bench
