#include "allocplus/allocplus.hpp"

#include <boost/container/vector.hpp>
#include <cstddef>
#include <nlohmann/json.hpp>

#include "allocplus/allocplus_bindings.hpp"
#include "allocplus/counted_allocator.hpp"
#include "allocplus/floors.hpp"
#include "common/page.hpp"

namespace mallard::bench {
namespace {

template <class Allocator>
void shrink_away(const Allocator& from, std::size_t elements) {
  boost::container::vector<my_int, Allocator> made(elements, from);
  for (std::size_t e = elements; e != 0; e -= shrink_step) {
    made.erase(made.end() - shrink_step, made.end());
    made.shrink_to_fit();
    keep(made.data());
  }
}

// A vector that is emptied step by step and fitted each time, by one allocator, on a fresh process.
template <class Binding>
void measure_shrink(Binding& binding, page& p) {
  const shrink_setting& asked = p.asked.shrink;
  const auto from = binding.template allocator_of<my_int>();
  measure_passes(p, asked.elements / shrink_step, asked.iterations,
                 [&] { shrink_away(from, asked.elements); });
  tally counts;
  shrink_away(counted_allocator<my_int, Binding>(from, counts), asked.elements);
  p.counted = {counts.allocations, counts.shrinks};
}

struct shrink_in {
  static std::size_t live_bytes(const page& p) { return p.asked.shrink.elements * sizeof(my_int); }

  template <class Binding>
  static void measure(Binding& binding, page& p) {
    measure_shrink(binding, p);
  }
};

std::vector<measured_allocator> all() {
  std::vector<measured_allocator> list;
  add_plain<shrink_in, one_place>(list);
  add_version_2<shrink_in>(list, "boost.V2", "V2");
  add_locked<shrink_in>(list);
  add_other_mallocs<shrink_in>(list);
  return list;
}

}  // namespace

std::span<const measured_allocator> shrink_allocators() {
  static const std::vector<measured_allocator> list = all();
  return list;
}

nlohmann::ordered_json group_of(const shrink_setting& asked) {
  return {{"elements", asked.elements}, {"iterations", asked.iterations}};
}

nlohmann::ordered_json method_of(const shrink_setting&) {
  return {
      {"times",
       "CPU time of a shrink_to_fit: a vector is made with all its elements, then five of them are erased "
       "and the rest is fitted until none is left"},
      {"cold", "the first vector of a process"},
      {"counts", "of one vector, in a pass that is not timed"}};
}

std::vector<std::string> counts_of(const shrink_setting&) { return {"allocations", "shrinks"}; }

// A vector that moves has two blocks.
std::uint64_t bytes_needed(const shrink_setting& asked) {
  return std::uint64_t{asked.elements} * sizeof(my_int) * 4 + (std::uint64_t{1} << 20);
}

std::string fault_of(const shrink_setting& asked) {
  if (asked.elements % shrink_step == 0) return {};
  return "--elements must be a multiple of " + std::to_string(shrink_step) + ", which are erased at a time";
}

}  // namespace mallard::bench
