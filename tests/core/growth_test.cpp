#include "mallard/core/growth.hpp"

#include <gtest/gtest.h>

#include <array>

#include "mallard/source/fixed_buffer.hpp"

namespace mallard {
namespace {

static_assert(growth_policy<constant<1>> && growth_policy<doubling<1, 1>> &&
              growth_policy<proportional<1, 1, 1, 1>> && growth_policy<beginning<1, constant<1>>>);

TEST(Constant, IsTheSameWhateverIsHeld) {
  EXPECT_EQ(constant<100>::next(0, 0), 100u);
  EXPECT_EQ(constant<100>::next(100, 100), 100u);
  EXPECT_EQ(constant<100>::next(5000, 1000000), 100u);
}

TEST(Doubling, StartsAtTheFirstSizeAndEndsAtTheCap) {
  using growth = doubling<100, 750>;
  EXPECT_EQ(growth::next(0, 0), 100u);
  EXPECT_EQ(growth::next(100, 100), 200u);
  EXPECT_EQ(growth::next(200, 300), 400u);
  EXPECT_EQ(growth::next(400, 700), 750u);
  EXPECT_EQ(growth::next(750, 1450), 750u);
}

TEST(Doubling, ExceedsNoCapHoweverLargeTheNewestIs) {
  EXPECT_EQ((doubling<4096, 8192>::next(static_cast<std::size_t>(-1), 0)), 8192u);
}

TEST(Proportional, DoublesToTheStepThenAddsSteps) {
  using growth = proportional<4, 16, 8, 1000>;
  EXPECT_EQ(growth::next(0, 0), 4u);
  EXPECT_EQ(growth::next(4, 4), 4u);
  EXPECT_EQ(growth::next(4, 8), 8u);
  EXPECT_EQ(growth::next(8, 16), 16u);
  EXPECT_EQ(growth::next(16, 100), 16u);
}

TEST(Proportional, AddsAShareOfWhatIsHeldUpToTheCap) {
  using growth = proportional<4, 16, 8, 1000>;
  EXPECT_EQ(growth::next(16, 160), 20u);
  EXPECT_EQ(growth::next(900, 8000), 1000u);
  EXPECT_EQ(growth::next(1000, 80000), 1000u);
}

TEST(Beginning, IsLargeWhereNothingIsHeldAndAnotherPolicyAfterwards) {
  using growth = beginning<1000, proportional<4, 16, 8, 500>>;
  EXPECT_EQ(growth::next(0, 0), 1000u);
  EXPECT_EQ(growth::next(1000, 1000), 125u);
  EXPECT_EQ(growth::next(0, 8), 8u);
}

TEST(InFewSizes, IsOneOfFourADoublingAtMostWhatTheOtherPolicyWishesFor) {
  using growth = in_few_sizes<proportional<4, 16, 8, 1000>>;
  EXPECT_EQ(growth::next(0, 0), 4u);
  EXPECT_EQ(growth::next(16, 8 * 19), 16u);
  EXPECT_EQ(growth::next(16, 8 * 31), 28u);
  EXPECT_EQ(growth::next(16, 8 * 79), 64u);
  EXPECT_EQ(growth::next(16, 80000), 896u);
  EXPECT_EQ((in_few_sizes<constant<3>>::next(0, 0)), 3u);
}

class AllocateHalving : public testing::Test {
 protected:
  alignas(16) std::array<std::byte, 1024> memory_{};
  fixed_buffer buffer_{memory_.data(), memory_.size()};
};

TEST_F(AllocateHalving, GivesWhatIsWished) { EXPECT_EQ(allocate_halving(buffer_, 1024, 16, 16).size, 1024u); }

TEST_F(AllocateHalving, GivesHalfWhereThatIsAllThereIs) {
  EXPECT_EQ(allocate_halving(buffer_, 3000, 16, 16).size, align_up(750, 16));
}

// A heap of so many bytes whose blocks are all fresh.
struct fresh_heap {
  block allocate(std::size_t size, std::size_t) noexcept {
    return size <= room ? block{&room, size} : block{};
  }
  block allocate(std::size_t size, std::size_t align, bool& is_fresh) noexcept {
    is_fresh = true;  // wrong of a null block, which must harm nobody
    return allocate(size, align);
  }
  void deallocate(void*, std::size_t, std::size_t) noexcept {}
  std::size_t room;
};

TEST_F(AllocateHalving, OnlyWhatIsWishedCountsAsFresh) {
  fresh_heap fresh{1000};
  bool is_fresh = false;
  EXPECT_EQ(allocate_halving(fresh, 1000, 16, 16, &is_fresh).size, 1000u);
  EXPECT_TRUE(is_fresh);
  EXPECT_EQ(allocate_halving(fresh, 1600, 16, 16, &is_fresh).size, 800u);
  EXPECT_FALSE(is_fresh);
  EXPECT_FALSE(allocate_halving(fresh, 1600, 1600, 16, &is_fresh));
  EXPECT_FALSE(is_fresh);
  EXPECT_TRUE(allocate_halving(buffer_, 64, 16, 16, &is_fresh));
  EXPECT_FALSE(is_fresh) << "the heap does not say";
}

struct heap_with_flags {
  block allocate(std::size_t, std::size_t, unsigned = 0) noexcept { return {}; }
  void deallocate(void*, std::size_t, std::size_t) noexcept {}
};
static_assert(tells_fresh<fresh_heap> && !tells_fresh<heap_with_flags>);

TEST_F(AllocateHalving, EndsAtTheLeast) {
  EXPECT_EQ(allocate_halving(buffer_, 1040, 1000, 16).size, 1008u);
  EXPECT_EQ(allocate_halving(buffer_, 2000, 100, 16), block{}) << "nothing of that size is left";
}

}  // namespace
}  // namespace mallard
