#include "allocplus/allocplus.hpp"

#include <algorithm>
#include <boost/container/vector.hpp>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "allocplus/allocplus_bindings.hpp"
#include "allocplus/counted_allocator.hpp"
#include "allocplus/floors.hpp"
#include "common/page.hpp"
#include "harness/cpu_clock.hpp"
#include "mallard/allocator/resize_objects.hpp"
#include "mallard/core/attributes.hpp"

namespace mallard::bench {
namespace {

// Not inlined: else the compiler keeps the members of a vector in registers where it knows all of an
// allocator, as of the floor, and nowhere else. Aligned: a loop of ten instructions takes up to half as long
// again where it begins elsewhere in its line.
template <class Vector>
[[gnu::aligned(64)]] MALLARD_NOINLINE void push_back_to(Vector& made, std::size_t elements) {
  for (std::size_t e = 0; e != elements; ++e) made.push_back(my_int(static_cast<int>(e)));
}

// The capacity that the vector had at its end.
template <class Allocator>
std::size_t push_back_all(const Allocator& from, std::size_t elements) {
  boost::container::vector<my_int, Allocator> made(from);
  push_back_to(made, elements);
  keep(made.data());
  return made.capacity();
}

template <class Binding>
void measure_push_back(Binding& binding, page& p) {
  const expansion_setting& asked = p.asked.expansion;
  const auto from = binding.template allocator_of<my_int>();
  measure_passes(p, asked.elements, asked.iterations, [&] { (void)push_back_all(from, asked.elements); });
  tally counts;
  const std::size_t capacity =
      push_back_all(counted_allocator<my_int, Binding>(from, counts), asked.elements);
  p.counted = {counts.allocations, counts.forward, counts.backward, capacity};
}

// The block that `old`, of `count` objects, has become or been replaced by, with at least twice as many in
// `received`; the old one is freed if it was replaced.
template <class Binding, class Allocator>
my_int* grown(Allocator& from, my_int* old, std::size_t count, std::size_t& received) {
  received = 2 * count;
  if constexpr (Binding::version == 2) {
    my_int* reuse = old;
    my_int* const grown = from.allocation_command(
        commands::allocate_new | commands::expand_fwd | commands::expand_bwd, received, received, reuse);
    if (reuse == nullptr) from.deallocate(old, count);
    return grown;
  } else {
    my_int* const grown = from.allocate(received);
    from.deallocate(old, count);
    return grown;
  }
}

// Room for a hole and the block behind it, between blocks that stay, wherever the heap would have put them by
// itself: what is measured is the command.
template <class Allocator>
class fenced_room {
 public:
  fenced_room(Allocator& from, std::size_t count) : from_(from), count_(count) {
    const std::size_t whole = 5 * count;
    from.deallocate(from.allocate(whole), whole);  // memory in one piece
    before_ = from.allocate(count);
    my_int* const hole = from.allocate(hole_of(count));
    my_int* const block = from.allocate(count);
    behind_ = from.allocate(count);
    from.deallocate(hole, hole_of(count));
    from.deallocate(block, count);
  }
  fenced_room(const fenced_room&) = delete;
  fenced_room& operator=(const fenced_room&) = delete;
  ~fenced_room() {
    from_.deallocate(before_, count_);
    from_.deallocate(behind_, count_);
  }

  [[nodiscard]] static std::size_t hole_of(std::size_t count) { return count + count / 2; }

 private:
  Allocator& from_;
  std::size_t count_;
  my_int* before_;
  my_int* behind_;
};

// One block of which the one before has been freed; with `grows` it is grown before it is freed itself.
template <class Binding, class Allocator>
std::size_t grow_behind_hole(Allocator& from, std::size_t count, bool grows) {
  const std::size_t hole = fenced_room<Allocator>::hole_of(count);
  my_int* const before = from.allocate(hole);
  keep(before);
  my_int* block = from.allocate(count);
  keep(block);
  from.deallocate(before, hole);
  std::size_t received = count;
  if (grows) block = grown<Binding>(from, block, count, received);
  keep(block);
  from.deallocate(block, received);
  return received;
}

template <class Binding>
void measure_command(Binding& binding, page& p) {
  constexpr std::uint64_t turns = 16;  // of the two loops, so that both see the same of a machine's moods
  const expansion_setting& asked = p.asked.expansion;
  const std::uint64_t iterations = std::max<std::uint64_t>(asked.iterations / turns, 1);
  auto from = binding.template allocator_of<my_int>();
  meter memory;
  const fenced_room room(from, asked.elements);
  const auto loop = [&](bool grows) {
    const std::uint64_t start = harness::thread_cpu_ns();
    for (std::uint64_t i = 0; i < iterations; ++i) grow_behind_hole<Binding>(from, asked.elements, grows);
    return static_cast<double>(harness::thread_cpu_ns() - start);
  };
  grow_behind_hole<Binding>(from, asked.elements, true);
  memory.first_is_over();
  double ns = 0;
  for (std::uint64_t i = 0; i < turns; ++i) ns += loop(true) - loop(false);
  p.found[0].warm_ns = ns / static_cast<double>(turns * iterations);
  memory.write(p);
  tally counts;
  counted_allocator<my_int, Binding> counted(from, counts);
  const std::size_t received = grow_behind_hole<Binding>(counted, asked.elements, true);
  p.counted = {counts.allocations - 2, counts.forward, counts.backward, received};
}

// By one allocator, on a fresh process.
template <class Binding>
void measure_expansion(Binding& binding, page& p) {
  p.asked.expansion.work == expansion_work::push_back ? measure_push_back(binding, p)
                                                      : measure_command(binding, p);
}

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
