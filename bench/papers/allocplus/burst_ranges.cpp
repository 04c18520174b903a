#include "allocplus/allocplus.hpp"

#include <cstddef>
#include <nlohmann/json.hpp>

#include "allocplus/allocplus_bindings.hpp"
#include "allocplus/floors.hpp"
#include "allocplus/measure_burst.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/concepts.hpp"

namespace mallard::bench {
namespace {

// A heap that allocates one block at a time: what bursts are compared with. Bursts of an allocator over it
// are loops of single requests.
template <heap Heap>
class without_bursts {
 public:
  [[nodiscard]] MALLARD_INLINE block allocate(std::size_t size, std::size_t align) noexcept {
    return heap_.allocate(size, align);
  }
  MALLARD_INLINE void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    heap_.deallocate(p, size, align);
  }

 private:
  Heap heap_;
};

struct burst_in {
  // A node is two links and an element.
  static std::size_t live_bytes(const page& p) {
    return (std::size_t{p.asked.burst.elements} * p.asked.burst.iterations + 1) * 3 * sizeof(void*);
  }

  template <class Binding>
  static void measure(Binding& binding, page& p) {
    measure_burst(binding, p);
  }
};

std::vector<measured_allocator> all() {
  std::vector<measured_allocator> list;
  add_plain<burst_in, places_in_row>(list);
  add_allocator<burst_in, v2_binding<without_bursts<best_fit>>>(list, "V2one", "best_fit");
  add_version_2<burst_in>(list, "boost.V2", "V2");
  add_locked<burst_in>(list);
  add_other_mallocs<burst_in>(list);
  return list;
}

}  // namespace

std::span<const measured_allocator> burst_allocators() {
  static const std::vector<measured_allocator> list = all();
  return list;
}

nlohmann::ordered_json group_of(const burst_setting& asked) {
  return {{"elements", asked.elements}, {"iterations", asked.iterations}};
}

std::vector<nlohmann::ordered_json> figures_of(const burst_setting&) {
  return {{{"part", "insert"}}, {{"part", "erase"}}};
}

nlohmann::ordered_json method_of(const burst_setting&) {
  return {{"times", "CPU time of an element: ranges are inserted at the end of a list, then erased; " +
                        std::to_string(warm_lists) + " lists"},
          {"cold", "the first list of a process"},
          {"counts", "of one list, in a pass that is not timed"}};
}

std::vector<std::string> counts_of(const burst_setting&) { return {"allocations", "bursts"}; }

// Of any malloc, and where ranges begin.
std::uint64_t bytes_needed(const burst_setting& asked) {
  return std::uint64_t{asked.iterations} * (std::uint64_t{asked.elements} * 48 + sizeof(void*)) +
         (std::uint64_t{1} << 20);
}

}  // namespace mallard::bench
