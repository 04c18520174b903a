#include "p0089/density/density.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory_resource>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_set>
#include <vector>

#include "common/pmr_bindings.hpp"
#include "common/typed_bindings.hpp"
#include "mallard/heap/multipool.hpp"
#include "p0089/density/structures.hpp"

namespace mallard::bench {
namespace {

TEST(Density, LeavesAreElementsOrElementsOfElements) {
  EXPECT_EQ(leaves_of({1, 6, 0, true}), 64u);
  EXPECT_EQ(leaves_of({4, 16, 0, true}), 65536u);
  EXPECT_EQ(leaves_of({5, 6, 0, true}), 64u * 128);
  EXPECT_EQ(leaves_of({12, 16, 0, true}), 65536u * 128);
}

TEST(Density, NeedsMoreForStringsAndForNesting) {
  EXPECT_GT(bytes_needed({2, 10, 0, true}), bytes_needed({1, 10, 0, true}));
  EXPECT_GT(bytes_needed({7, 10, 0, true}), bytes_needed({3, 10, 0, true}));
  EXPECT_LT(bytes_needed({12, 16, 0, true}), std::uint64_t{20} << 30)
      << "all of the paper's cells fit 20 GiB";
}

TEST(Density, NamesItsGroup) {
  EXPECT_EQ(group_of(density_setting{3, 10, 20, false}).dump(),
            R"({"structure":"DS3","size":10,"leaves":20,"cached_hashes":false})");
}

// Counts what containers do with it; its end gives everything back, as a winked-out container needs.
class watched final : public std::pmr::memory_resource {
 public:
  watched() { ++begun; }
  ~watched() override { ++ended; }

  static inline int begun = 0;
  static inline int ended = 0;
  static inline std::int64_t allocated = 0;
  static inline std::int64_t deallocated = 0;

 private:
  void* do_allocate(std::size_t size, std::size_t align) override {
    ++allocated;
    return blocks_.allocate(size, align);
  }
  void do_deallocate(void* p, std::size_t size, std::size_t align) override {
    ++deallocated;
    blocks_.deallocate(p, size, align);
  }
  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  std::pmr::monotonic_buffer_resource blocks_;
};

page measured(destruction end, const density_setting& asked) {
  watched::begun = watched::ended = 0;
  watched::allocated = watched::deallocated = 0;
  maker_of<watched> maker;
  pmr_binding binding{&maker};
  setting whole;
  whole.density = asked;
  page p(whole);
  measure_density(binding, end, p);
  return p;
}

TEST(MeasureDensity, EveryStructureHasAHeapOfItsOwn) {
  const page p = measured(destruction::normal, {2, 4, 6, true});
  EXPECT_EQ(p.state, harness::work_state::done);
  EXPECT_EQ(watched::begun, 1 + 4) << "the first, cold; then as many as 2^6 leaves take";
  EXPECT_EQ(watched::ended, 1 + 4);
  EXPECT_EQ(watched::allocated, 5 * (1 + 16));
  EXPECT_EQ(watched::deallocated, watched::allocated);
  EXPECT_GT(p.found[0].cold_ns, 0);
  EXPECT_GT(p.found[0].warm_ns, 0);
}

TEST(MeasureDensity, AWinkedOutStructureGivesNoBlockBack) {
  measured(destruction::winkout, {2, 4, 6, true});
  EXPECT_EQ(watched::allocated, 5 * (1 + 1 + 16)) << "it stands in its heap as well";
  EXPECT_EQ(watched::deallocated, 0);
  EXPECT_EQ(watched::ended, 1 + 4);
}

TEST(MeasureDensity, AStructureOfMoreLeavesThanAskedForIsMadeOnceWarm) {
  measured(destruction::normal, {1, 8, 4, true});
  EXPECT_EQ(watched::begun, 1 + 1);
}

TEST(ContentHash, IsTheSameWhateverTheAllocator) {
  const content_hash hash;
  EXPECT_EQ(hash(std::string("a text")), hash(std::pmr::string("a text")));
  EXPECT_EQ(hash(std::vector<int>{1, 2}), hash(std::pmr::vector<int>{1, 2}));
  EXPECT_EQ(hash(std::vector<std::string>{"a", "b"}), hash(std::pmr::vector<std::pmr::string>{"a", "b"}));
}

TEST(ContentHash, TellsContainersApartByTheirBeginAndSize) {
  const content_hash hash;
  EXPECT_NE(hash(std::vector<int>{1, 2}), hash(std::vector<int>{2, 2}));
  EXPECT_NE(hash(std::vector<int>{1, 2}), hash(std::vector<int>{1, 2, 3}));
  EXPECT_EQ(hash(std::vector<int>()), hash(std::vector<int>())) << "an empty one has no first element";
}

// What a set does when it grows: with its keys' hashes at hand it asks for none.
template <class Base>
struct counting : Base {
  std::size_t operator()(const std::string& key) const noexcept {
    ++calls;
    return Base::operator()(key);
  }
  static inline int calls = 0;
};

}  // namespace
}  // namespace mallard::bench

template <>
struct std::__is_fast_hash<mallard::bench::counting<mallard::bench::kept_hash>>
    : std::__is_fast_hash<mallard::bench::kept_hash> {};
template <>
struct std::__is_fast_hash<mallard::bench::counting<mallard::bench::unkept_hash>>
    : std::__is_fast_hash<mallard::bench::unkept_hash> {};

namespace mallard::bench {
namespace {

template <class Hash>
int calls_while_growing() {
  using counted = counting<Hash>;
  counted::calls = 0;
  std::unordered_set<std::string, counted> set;
  for (int i = 0; i < 1000; ++i) set.insert(std::to_string(i));
  return counted::calls;
}

TEST(KeptHash, IsAskedForOncePerKey) { EXPECT_EQ(calls_while_growing<kept_hash>(), 1000); }

TEST(UnkeptHash, IsAskedForAgainWhenASetGrows) { EXPECT_GT(calls_while_growing<unkept_hash>(), 1500); }

TEST(Texts, HaveThePapersLengthsEvenlySpread) {
  const texts all;
  double total = 0;
  std::size_t least = SIZE_MAX;
  std::size_t most = 0;
  for (std::size_t i = 0; i < texts::count; ++i) {
    total += static_cast<double>(all[i].size());
    least = std::min(least, all[i].size());
    most = std::max(most, all[i].size());
  }
  EXPECT_EQ(least, 33u);
  EXPECT_EQ(most, 1000u);
  EXPECT_NEAR(total / texts::count, (33 + 1000) / 2.0, 5);
}

TEST(Texts, DifferSoThatASetDropsNone) {
  const texts all;
  std::unordered_set<std::string_view> seen;
  for (std::size_t i = 0; i < texts::count; ++i) seen.insert(all[i]);
  EXPECT_EQ(seen.size(), texts::count);
}

TEST(Texts, AreTheSameInEveryProcess) {
  const texts one;
  const texts another;
  for (std::size_t i : {std::size_t{0}, std::size_t{1}, texts::count - 1}) EXPECT_EQ(one[i], another[i]);
  EXPECT_EQ(one[0], one[texts::count]) << "they begin again";
}

template <class Element>
std::uint64_t leaves_in(const Element& element) {
  if constexpr (std::is_same_v<Element, int>) {
    return 1;
  } else if constexpr (std::is_same_v<typename Element::value_type, char>) {
    return 1;
  } else {
    std::uint64_t sum = 0;
    for (const auto& inner : element) sum += leaves_in(inner);
    return sum;
  }
}

template <int N>
void check_structure() {
  typed_binding<multipool> binding;
  typed_binding<multipool>::life life(binding);
  using structure = structures<typed_binding<multipool>>::of<N, kept_hash>;
  structure made(life.allocator_of<typename structure::value_type>());
  const texts from;
  leaf_cursor leaves(from);
  fill(made, 1 << 6, leaves);
  EXPECT_EQ(made.size(), 1u << 6) << "DS" << N;
  EXPECT_EQ(leaves_in(made), leaves_of({N, 6, 0, true})) << "DS" << N;
  write_leaves(made);
  EXPECT_EQ(leaves_in(made), leaves_of({N, 6, 0, true})) << "DS" << N;
}

TEST(Structures, HaveAllTheirLeaves) {
  [&]<int... N>(std::integer_sequence<int, N...>) {
    (check_structure<N + 1>(), ...);
  }(std::make_integer_sequence<int, 12>());
}

// Everything, down to the last string, stands in the heap that the outermost container was given.
class tallying final : public std::pmr::memory_resource {
 public:
  std::uint64_t blocks = 0;

 private:
  void* do_allocate(std::size_t size, std::size_t align) override {
    ++blocks;
    return std::pmr::new_delete_resource()->allocate(size, align);
  }
  void do_deallocate(void* p, std::size_t size, std::size_t align) override {
    std::pmr::new_delete_resource()->deallocate(p, size, align);
  }
  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }
};

template <int N>
std::uint64_t blocks_of() {
  tallying from;
  std::pmr::set_default_resource(std::pmr::null_memory_resource());
  {
    typename structures<pmr_binding>::of<N, kept_hash> made(&from);
    const texts all;
    leaf_cursor leaves(all);
    fill(made, 1 << 4, leaves);
  }
  std::pmr::set_default_resource(nullptr);
  return from.blocks;
}

TEST(Structures, TakeEveryBlockFromTheirOwnHeap) {
  EXPECT_EQ(blocks_of<1>(), 1u) << "vectors are reserved";
  EXPECT_EQ(blocks_of<2>(), 1u + 16);
  EXPECT_GE(blocks_of<3>(), 16u + 1) << "a node each, and tables";
  EXPECT_GE(blocks_of<4>(), 2 * 16u + 1);
  EXPECT_EQ(blocks_of<5>(), 1u + 16);
  EXPECT_EQ(blocks_of<6>(), 1u + 16 * (1 + 128));
  EXPECT_GE(blocks_of<12>(), 16 * (1 + 2 * 128u));
}

TEST(LeafCursor, NumbersDiffer) {
  const texts from;
  leaf_cursor leaves(from);
  std::unordered_set<int> seen;
  for (int i = 0; i < 100000; ++i) seen.insert(leaves.number());
  EXPECT_EQ(seen.size(), 100000u);
}

TEST(WriteLeaves, GoesThroughEveryCharacterAndLeavesNumbersAsTheyAre) {
  std::vector<std::string> strings{"some", "text"};
  write_leaves(strings);
  EXPECT_EQ(strings, (std::vector<std::string>{"....", "...."}));
  std::vector<int> numbers{1, 2};
  write_leaves(numbers);
  EXPECT_EQ(numbers, (std::vector<int>{1, 2}));
}

}  // namespace

}  // namespace mallard::bench
