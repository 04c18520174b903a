#include "mallard/heap/adaptive_pool/partial_lists.hpp"

#include <gtest/gtest.h>

#include <array>

namespace mallard {
namespace {

constexpr auto any = [](const slab*) { return true; };

class PartialLists : public testing::Test {
 protected:
  PartialLists() {
    for (slab& t : slabs_) t.capacity = 80;
  }

  std::array<slab, 4> slabs_{};
  partial_lists lists_;
};

TEST_F(PartialLists, GiveAFullerSlabFirst) {
  EXPECT_EQ(lists_.fullest(), nullptr);
  lists_.put(&slabs_[0], 79);
  lists_.put(&slabs_[1], 1);
  lists_.put(&slabs_[2], 35);
  EXPECT_EQ(lists_.fullest(), &slabs_[1]);
  lists_.erase(&slabs_[1]);
  EXPECT_EQ(lists_.fullest(), &slabs_[2]);
  lists_.erase(&slabs_[2]);
  EXPECT_EQ(lists_.fullest(), &slabs_[0]);
  lists_.erase(&slabs_[0]);
  EXPECT_EQ(lists_.fullest(), nullptr);
  EXPECT_FALSE(lists_.validate(0, any));
}

TEST_F(PartialLists, HaveASlabLookedAtAtTheNextEighthOrWhenAllIsFree) {
  for (const auto& [free, next] : {std::pair{1u, 10u}, {9u, 10u}, {10u, 20u}, {69u, 70u}, {70u, 80u}}) {
    lists_.put(slabs_.data(), free);
    EXPECT_EQ(slabs_[0].goal, next);
    EXPECT_EQ(slabs_[0].until, next - free);
    lists_.erase(slabs_.data());
  }
}

TEST_F(PartialLists, EverySmallSlabIsLookedAtOnTheWay) {
  for (std::uint32_t capacity = 2; capacity < 100; ++capacity) {
    slabs_[0].capacity = capacity;
    for (std::size_t free = 1; free < capacity;) {
      lists_.put(slabs_.data(), free);
      EXPECT_GT(slabs_[0].goal, free);
      EXPECT_LE(slabs_[0].goal, capacity);
      EXPECT_FALSE(lists_.validate(1, any));
      lists_.erase(slabs_.data());
      free = slabs_[0].goal;
    }
  }
}

TEST_F(PartialLists, KnowWhatIsNearlyAsFullAsTheFullest) {
  lists_.put(&slabs_[0], 25);
  lists_.put(&slabs_[1], 35);
  lists_.put(&slabs_[2], 45);
  slabs_[3].look_when(partial_lists::when_full, 0);
  EXPECT_TRUE(lists_.is_nearly_fullest(&slabs_[0]));
  EXPECT_TRUE(lists_.is_nearly_fullest(&slabs_[1]));
  EXPECT_FALSE(lists_.is_nearly_fullest(&slabs_[2])) << "two eighths emptier";
  EXPECT_FALSE(lists_.is_nearly_fullest(&slabs_[3])) << "full";
}

TEST_F(PartialLists, KnowWhetherAQuarterOfEachIsFree) {
  lists_.put(&slabs_[0], 70);
  lists_.put(&slabs_[1], 20);
  EXPECT_TRUE(lists_.is_much_free());
  lists_.put(&slabs_[2], 19);
  EXPECT_FALSE(lists_.is_much_free());
}

TEST_F(PartialLists, SeeAMissingSlabAndOneThatBelongsElsewhere) {
  lists_.put(&slabs_[0], 25);
  EXPECT_TRUE(lists_.validate(2, any));
  EXPECT_TRUE(lists_.validate(0, any));
  EXPECT_FALSE(lists_.validate(1, any));
  slabs_[0].goal = 60;
  EXPECT_TRUE(lists_.validate(1, any));
}

}  // namespace
}  // namespace mallard
