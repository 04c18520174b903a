#include "mallard/allocator/winkout_safe.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "mallard/allocator/allocator.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"

namespace mallard {
namespace {

struct point {
  int x, y;
};
struct with_destructor {
  ~with_destructor() { ++ends; }
  int ends = 0;
};
struct promised : with_destructor {};
struct holds_one {
  with_destructor member;
};

}  // namespace

template <>
inline constexpr bool winkout_safe<promised> = true;

namespace {

TEST(WinkoutSafe, HoldsForWhatHasNothingToDestroy) {
  EXPECT_TRUE(winkout_safe<int>);
  EXPECT_TRUE(winkout_safe<point>);
  EXPECT_TRUE(winkout_safe<const point>);
  EXPECT_TRUE(winkout_safe<std::string*>);
  EXPECT_TRUE(winkout_safe<point[3]>);
  EXPECT_TRUE(winkout_safe<point[]>);
}

TEST(WinkoutSafe, IsRefusedToEveryOtherType) {
  EXPECT_FALSE(winkout_safe<with_destructor>);
  EXPECT_FALSE(winkout_safe<const with_destructor>);
  EXPECT_FALSE(winkout_safe<with_destructor[3]>);
  EXPECT_FALSE(winkout_safe<holds_one>);
  EXPECT_FALSE(winkout_safe<std::unique_ptr<int>>);
  EXPECT_FALSE(winkout_safe<std::shared_ptr<int>>);
}

TEST(WinkoutSafe, IsAPromiseForTypesOfTheUser) {
  EXPECT_TRUE(winkout_safe<promised>);
  EXPECT_TRUE(winkout_safe<const promised>);
  EXPECT_TRUE(winkout_safe<promised[2]>);
}

TEST(TakesMemoryFrom, AsksTypesThatTakeAnAllocatorWhetherTheyTakeThisOne) {
  using from_monotonic = allocator<int, monotonic>;
  using bytes = std::vector<char, allocator<char, monotonic>>;
  EXPECT_TRUE((takes_memory_from<int, from_monotonic>));
  EXPECT_TRUE((takes_memory_from<bytes, from_monotonic>));
  EXPECT_TRUE((takes_memory_from<const bytes, from_monotonic>));
  EXPECT_TRUE((takes_memory_from<bytes[2], from_monotonic>));
  EXPECT_FALSE((takes_memory_from<bytes, allocator<int, multipool>>));
  EXPECT_FALSE((takes_memory_from<bytes[2], allocator<int, multipool>>));
  EXPECT_FALSE((takes_memory_from<std::string, from_monotonic>));
}

}  // namespace
}  // namespace mallard
