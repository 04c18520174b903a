// What the standard demands of every container with an allocator, for containers of one kind over a Memory.
//
//     struct vector_kind {
//       template <class T, class Memory>
//       using of = std::vector<T, typename Memory::template allocator<T>>;
//       static void add(auto& c, int n) { c.emplace_back(n); }
//       static void disturb(auto& c);                   // whatever else this kind has that takes memory
//       static constexpr bool moves_for_free = true;    // a move to an equal allocator asks for no block
//     };
//     const bool held = register_for_heaps_of_any_size<checks_of<vector_kind>::on>("vector");
//
// A kind of another library's may be excused from what it gets wrong with any allocator:
//
//       static constexpr int lost_by_a_throw = 1;       // blocks lost when an element throws; -1: it breaks
//       static constexpr bool over_aligned = false;     // its elements are aligned no stricter than most
//
// Each check begins with new heaps and ends with every element destroyed and every block given back, in
// the block_registry and in the chunk_registry. Failures are planted one after the other, at every
// construction of an element and at every request of a block, until nothing is left to fail.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory_resource>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "containers/element.hpp"
#include "containers/heaps.hpp"

namespace mallard::containers {

constexpr int few = 12;
constexpr int many = 200;

template <class C>
std::vector<int> numbers_in(const C& c) {
  std::vector<int> numbers;
  for (const auto& e : c) numbers.push_back(number_of(e));
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

// What disturb() adds.
inline const std::vector<int> additions = {1001, 1002, 1003};

inline std::vector<int> numbers_from(int first, int end) {
  std::vector<int> numbers;
  for (int n = first; n != end; ++n) numbers.push_back(n);
  return numbers;
}

template <class Kind>
constexpr int lost_by_a_throw_of() {
  if constexpr (requires { Kind::lost_by_a_throw; }) return Kind::lost_by_a_throw;
  return 0;
}

template <class Kind>
constexpr bool takes_over_aligned() {
  if constexpr (requires { Kind::over_aligned; }) return Kind::over_aligned;
  return true;
}

template <class Kind, class Memory>
class requirements {
  static constexpr int lost_by_a_throw = lost_by_a_throw_of<Kind>();
  template <class T>
  using container = typename Kind::template of<T, Memory>;
  using plain = container<element>;

 public:
  static void all() {
    run("lives in its heap", lives_in_its_heap<element>);
    if constexpr (takes_over_aligned<Kind>()) run("over-aligned elements", lives_in_its_heap<wide>);
    run("copy construction", copy_construction);
    run("copy to another heap", copy_to_another_heap);
    run("move construction", move_construction);
    run("move to another heap", move_to_another_heap);
    run("copy assignment", copy_assignment);
    run("move assignment", move_assignment);
    run("swap", swap);
    if constexpr (lost_by_a_throw >= 0) {
      run("elements that throw", elements_that_throw<element>);
      run("copies that throw", elements_that_throw<copied>);
    }
    run("requests that fail", requests_that_fail);
    run("a source that fails", a_source_that_fails);
  }

 private:
  static void run(const char* name, void (*check)()) {
    SCOPED_TRACE(name);
    check();
    EXPECT_EQ(element::alive(), 0) << "elements never destroyed";
  }

  template <class C>
  static void add(C& c, int first, int end) {
    for (int n = first; n != end; ++n) Kind::add(c, n);
  }

  // Adds one element; where that fails, nothing has changed. Elements that move down in their own block are
  // between two places when one of them throws: there they need only be some.
  template <class C>
  static void add_or_change_nothing(C& c, int n) {
    const std::vector<int> before = numbers_in(c);
    try {
      Kind::add(c, n);
    } catch (...) {
      if constexpr (!requires { Memory::elements_move_down; }) {
        EXPECT_EQ(numbers_in(c), before) << "an insertion that failed left something behind";
      }
      throw;
    }
  }

  template <class C>
  static bool stands_in(const C& c, Memory& memory) {
    return c.get_allocator() == typename C::allocator_type(memory.get()) &&
           std::all_of(c.begin(), c.end(), [&memory](const auto& e) { return memory.blocks().has(&e); });
  }

  static std::size_t live(Memory& memory) { return memory.blocks().live(); }

  template <class T>
  static void lives_in_its_heap() {
    Memory memory;
    {
      container<T> c(memory.get());
      add(c, 0, many);
      EXPECT_EQ(numbers_in(c), numbers_from(0, many));
      EXPECT_TRUE(stands_in(c, memory));
      for (const auto& e : c) EXPECT_TRUE(is_aligned(&e, alignof(T)));
      c.clear();
      add(c, 0, few);
      EXPECT_EQ(numbers_in(c), numbers_from(0, few));
    }
    EXPECT_EQ(live(memory), 0u);
  }

  static void copy_construction() {
    Memory memory;
    plain original(memory.get());
    add(original, 0, few);
    const plain copy(original);  // NOLINT(performance-unnecessary-copy-initialization): it is the subject
    EXPECT_EQ(numbers_in(copy), numbers_from(0, few));
    if constexpr (Memory::copies_stay)
      EXPECT_TRUE(stands_in(copy, memory));
    else
      EXPECT_EQ(copy.get_allocator().resource(), std::pmr::get_default_resource());
  }

  static void copy_to_another_heap() {
    Memory memory;
    Memory other;
    plain original(memory.get());
    add(original, 0, few);
    const plain copy(original, other.get());
    EXPECT_EQ(numbers_in(copy), numbers_from(0, few));
    EXPECT_TRUE(stands_in(copy, other));
    EXPECT_TRUE(stands_in(original, memory));
    EXPECT_EQ(numbers_in(original), numbers_from(0, few));
  }

  static void move_construction() {
    Memory memory;
    plain original(memory.get());
    add(original, 0, few);
    const element* const first = &first_of(original);
    memory.blocks().fail_from(Kind::moves_for_free ? 1 : many);
    plain moved(std::move(original));
    memory.blocks().fail_at(0);
    EXPECT_EQ(numbers_in(moved), numbers_from(0, few));
    EXPECT_EQ(&first_of(moved), first);
    EXPECT_TRUE(stands_in(moved, memory));
    original.clear();
    add(original, 0, few);
    EXPECT_EQ(numbers_in(original), numbers_from(0, few));
  }

  static void move_to_another_heap() {
    Memory memory;
    Memory other;
    plain original(memory.get());
    add(original, 0, few);
    plain moved(std::move(original), other.get());
    EXPECT_EQ(numbers_in(moved), numbers_from(0, few));
    EXPECT_TRUE(stands_in(moved, other));
    const element* const first = &first_of(moved);
    const plain moved_again(std::move(moved), other.get());
    EXPECT_EQ(numbers_in(moved_again), numbers_from(0, few));
    EXPECT_EQ(&first_of(moved_again), first);
  }

  static void copy_assignment() {
    Memory memory;
    Memory other;
    plain original(memory.get());
    add(original, 0, few);
    plain same(memory.get());
    add(same, 50, 50 + 2 * few);
    same = original;
    EXPECT_EQ(numbers_in(same), numbers_from(0, few));
    EXPECT_TRUE(stands_in(same, memory));
    plain elsewhere(other.get());
    add(elsewhere, 50, 51);
    elsewhere = original;
    EXPECT_EQ(numbers_in(elsewhere), numbers_from(0, few));
    EXPECT_TRUE(stands_in(elsewhere, other));
    EXPECT_EQ(numbers_in(original), numbers_from(0, few));
  }

  static void move_assignment() {
    Memory memory;
    Memory other;
    plain original(memory.get());
    add(original, 0, few);
    const element* const first = &first_of(original);
    plain same(memory.get());
    add(same, 50, 50 + few);
    memory.blocks().fail_from(Kind::moves_for_free ? 1 : many);
    same = std::move(original);
    memory.blocks().fail_at(0);
    EXPECT_EQ(numbers_in(same), numbers_from(0, few));
    EXPECT_EQ(&first_of(same), first);
    plain elsewhere(other.get());
    add(elsewhere, 50, 51);
    elsewhere = std::move(same);
    EXPECT_EQ(numbers_in(elsewhere), numbers_from(0, few));
    EXPECT_TRUE(stands_in(elsewhere, other));
    same.clear();
    add(same, 3, 4);
    EXPECT_EQ(numbers_in(same), numbers_from(3, 4));
  }

  static void swap() {
    Memory memory;
    plain one(memory.get());
    plain two(memory.get());
    add(one, 0, few);
    add(two, 50, 52);
    const element* const first = &first_of(one);
    memory.blocks().fail_from(1);
    one.swap(two);
    std::swap(one, two);
    two.swap(one);
    memory.blocks().fail_at(0);
    EXPECT_EQ(numbers_in(one), numbers_from(50, 52));
    EXPECT_EQ(numbers_in(two), numbers_from(0, few));
    EXPECT_EQ(&first_of(two), first);
    EXPECT_TRUE(stands_in(one, memory) && stands_in(two, memory));
  }

  // What the next checks do, until a failure ends it.
  template <class T>
  static void life(Memory& memory, Memory& other, int elements) {
    container<T> c(memory.get());
    for (int n = 0; n != elements; ++n) add_or_change_nothing(c, n);
    container<T> copy(c, other.get());
    add_or_change_nothing(copy, elements);
    copy = c;
    container<T> moved(std::move(copy), memory.get());
    moved = std::move(c);
    EXPECT_EQ(numbers_in(moved), numbers_from(0, elements));
    Kind::disturb(moved);
    moved.clear();
    add_or_change_nothing(moved, elements);
  }

  // life(), with the n-th step failing, for every n until it ends well; whatever fails, nothing is lost.
  template <class T, class Failure, class Arm>
  static int failures_survived(int elements, Arm arm) {
    for (int n = 1;; ++n) {
      SCOPED_TRACE(n);
      Memory memory;
      Memory other;
      bool failed = false;
      arm(memory, other, n);
      try {
        life<T>(memory, other, elements);
      } catch (const Failure&) {
        failed = true;
      }
      element::fail_at(0);
      EXPECT_EQ(element::alive(), 0) << "elements never destroyed";
      if constexpr (lost_by_a_throw > 0 && std::is_same_v<Failure, element_failed>) {
        EXPECT_LE(memory.end_what_is_lost() + other.end_what_is_lost(), lost_by_a_throw);
      }
      EXPECT_EQ(live(memory) + live(other), 0u) << "blocks never given back";
      if (!failed || testing::Test::HasFailure()) return n - 1;
    }
  }

  template <class T>
  static void elements_that_throw() {
    const auto arm = [](Memory&, Memory&, int n) { element::fail_at(n); };
    EXPECT_GT((failures_survived<T, element_failed>(few, arm)), 2 * few);
  }

  static void requests_that_fail() {
    for (const bool first : {true, false}) {
      const auto arm = [first](Memory& memory, Memory& other, int n) {
        (first ? memory : other).blocks().fail_from(n);  // what asks for less next must fail, too
      };
      EXPECT_GT((failures_survived<element, std::bad_alloc>(few, arm)), 0);
    }
  }

  // Several chunks' worth of elements, so that it is not only the first that is missing.
  static void a_source_that_fails() {
    const auto arm = [](Memory& memory, Memory& other, int n) {
      memory.fail_source_from(static_cast<std::size_t>(n));
      other.fail_source_from(static_cast<std::size_t>(n));
    };
    EXPECT_GT((failures_survived<element, std::bad_alloc>(many, arm)), 0);
  }

  static const element& first_of(const plain& c) {
    if constexpr (requires { c.begin()->first; })
      return c.begin()->first;
    else
      return *c.begin();
  }
};

// requirements of one kind, as a template over memory.
template <class Kind>
struct checks_of {
  template <class Memory>
  using on = requirements<Kind, Memory>;
};

}  // namespace mallard::containers
