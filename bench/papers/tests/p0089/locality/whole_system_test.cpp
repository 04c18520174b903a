#include "p0089/locality/whole_system.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory_resource>
#include <numeric>
#include <set>
#include <vector>

#include "common/pmr_bindings.hpp"
#include "common/typed_bindings.hpp"

namespace mallard::bench {
namespace {

// Each subsystem's own; blocks that come back to another one than they are from are counted.
class watched final : public std::pmr::memory_resource {
 public:
  watched() { alive.push_back(this); }
  ~watched() override {
    EXPECT_TRUE(mine_.empty());
    std::erase(alive, this);
  }

  [[nodiscard]] int freed() const { return freed_; }

  static inline std::vector<const watched*> alive;
  static inline int allocated = 0;
  static inline int strangers = 0;

 private:
  void* do_allocate(std::size_t size, std::size_t align) override {
    ++allocated;
    return *mine_.insert(std::pmr::new_delete_resource()->allocate(size, align)).first;
  }
  void do_deallocate(void* p, std::size_t size, std::size_t align) override {
    ++freed_;
    if (mine_.erase(p) == 0) ++strangers;
    std::pmr::new_delete_resource()->deallocate(p, size, align);
  }
  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  std::set<void*> mine_;
  int freed_ = 0;
};

struct watched_binding : owned_pmr_binding {
  watched_binding() : owned_pmr_binding(owned_pmr<maker_of<watched>>()) {}
};

template <class Binding>
std::vector<std::size_t> sizes(const whole_system<Binding>& all) {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < all.subsystems(); ++i) result.push_back(all[i].size());
  return result;
}

std::size_t total(const std::vector<std::size_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
}

TEST(WholeSystem, HasAsManySubsystemsAsItsLinksFill) {
  global_binding binding;
  EXPECT_EQ(sizes(whole_system<global_binding>(binding, 12, 4)), (std::vector<std::size_t>{4, 4, 4}));
  EXPECT_EQ(sizes(whole_system<global_binding>(binding, 4, 4)), (std::vector<std::size_t>{4}));
  EXPECT_EQ(sizes(whole_system<global_binding>(binding, 10, 4)), (std::vector<std::size_t>{4, 4}));
}

TEST(WholeSystem, KeepsItsLinksWhenShuffled) {
  global_binding binding;
  whole_system<global_binding> all(binding, 1024, 16);
  all.shuffle(5 * 1024);
  EXPECT_EQ(total(sizes(all)), 1024u);
  EXPECT_NE(sizes(all), std::vector<std::size_t>(64, 16)) << "links go to random subsystems";
}

TEST(WholeSystem, ShufflesAsManyPairsAsAskedFor) {
  watched_binding binding;
  {
    whole_system<watched_binding> all(binding, 256, 16);
    EXPECT_EQ(watched::alive.size(), 16u);
    watched::allocated = 0;
    all.shuffle(777);
    EXPECT_EQ(watched::allocated, 777);
  }
  EXPECT_EQ(watched::strangers, 0) << "a link goes back to the heap of the subsystem that made it";
  EXPECT_TRUE(watched::alive.empty());
}

TEST(WholeSystem, TakesALinkFromEachSubsystemInTurn) {
  watched_binding binding;
  whole_system<watched_binding> all(binding, 64, 16);
  all.shuffle(2 * 4 + 1);
  std::vector<int> freed;
  for (const watched* heap : watched::alive) freed.push_back(heap->freed());
  EXPECT_EQ(freed, (std::vector<int>{3, 2, 2, 2}));
}

TEST(WholeSystem, PassesOverSubsystemsThatRanEmpty) {
  global_binding binding;
  whole_system<global_binding> all(binding, 64, 1);
  all.shuffle(640);
  const std::vector<std::size_t> now = sizes(all);
  EXPECT_EQ(total(now), 64u);
  EXPECT_NE(std::count(now.begin(), now.end(), 0u), 0);
  all.shuffle(640);
  EXPECT_EQ(total(sizes(all)), 64u);
}

// FNV-1a over the sizes: what links there are where.
std::uint64_t fingerprint(const std::vector<std::size_t>& sizes) {
  std::uint64_t hash = 14695981039346656037u;
  for (const std::size_t n : sizes) hash = (hash ^ n) * 1099511628211u;
  return hash;
}

// Whatever the process, the machine and the strategy: else allocators would walk over different lists.
TEST(WholeSystem, ShufflesTheSameInEveryProcess) {
  global_binding global;
  whole_system<global_binding> one(global, 512, 8);
  one.shuffle(2000);
  EXPECT_EQ(fingerprint(sizes(one)), 340447534878393777u);
  one.shuffle(1000);
  watched_binding each;
  whole_system<watched_binding> other(each, 512, 8);
  other.shuffle(2000);
  other.visit(100, 1);
  other.shuffle(1000);
  EXPECT_EQ(sizes(one), sizes(other)) << "visited between, and over a heap each";
}

TEST(WholeSystem, GoesOnVisitingWhereItStopped) {
  global_binding binding;
  whole_system<global_binding> all(binding, 32, 8);
  all.shuffle(6);  // now they differ: each visit is recognised by its accesses
  const std::vector<std::size_t> size = sizes(all);
  EXPECT_EQ(all.visit(1, 3).accesses, 3 * size[0]);
  EXPECT_EQ(all.visit(2, 1).accesses, size[1] + size[2]);
  EXPECT_EQ(all.visit_in_part(100, 2).accesses, 100 * size[3]);
  EXPECT_EQ(all.visit(5, 1).accesses, 32 + size[0]);
}

TEST(WholeSystem, TakesTimeToVisit) {
  global_binding binding;
  whole_system<global_binding> all(binding, 4096, 256);
  EXPECT_GT(all.visit(16, 64).ns, 0);
  EXPECT_GT(all.visit_in_part(64, 8).ns, 0);
  EXPECT_EQ(all.visit(0, 1).accesses, 0u);
}

}  // namespace
}  // namespace mallard::bench
