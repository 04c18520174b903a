#include "mallard/core/magazine.hpp"

#include <gtest/gtest.h>

#include <array>
#include <utility>

namespace mallard {
namespace {

constexpr std::size_t slots = 8;

class Magazine : public testing::Test {
 protected:
  void open() { magazine_.open(base(), slots); }
  magazine::slot* base() { return memory_.data() + magazine::below; }
  void* block(std::size_t i) { return &blocks_[i]; }

  std::array<magazine::slot, slots + magazine::marks> memory_{};
  std::array<long, slots + 1> blocks_{};
  magazine::no_slots none_;
  magazine magazine_{none_};
};

TEST_F(Magazine, HasNeitherBlocksNorRoomBeforeItIsOpened) {
  EXPECT_FALSE(magazine_.is_open(none_));
  EXPECT_EQ(magazine_.pop(), nullptr);
  EXPECT_FALSE(magazine_.push(block(0)));
  open();
  EXPECT_TRUE(magazine_.is_open(none_));
  EXPECT_EQ(magazine_.pop(), nullptr);
}

TEST_F(Magazine, TakesAsManyAsItHasSlotsAndReturnsTheNewestFirst) {
  memory_.fill(1);  // what the last owner of the memory left
  open();
  for (std::size_t i = 0; i < slots; ++i) EXPECT_TRUE(magazine_.push(block(i)));
  EXPECT_FALSE(magazine_.push(block(slots)));
  EXPECT_EQ(magazine_.count(base()), slots);
  EXPECT_TRUE(magazine_.is_intact(base(), slots));
  for (std::size_t i = slots; i-- != 0;) EXPECT_EQ(magazine_.pop(), block(i));
  EXPECT_EQ(magazine_.pop(), nullptr);
  EXPECT_EQ(blocks_[0], 0) << "no block was touched";
}

TEST_F(Magazine, KeepsTheNewestWhenTheOldestAreDropped) {
  open();
  for (std::size_t i = 0; i < slots; ++i) ASSERT_TRUE(magazine_.push(block(i)));
  magazine_.drop_oldest(base(), 5);
  EXPECT_EQ(magazine_.count(base()), slots - 5);
  for (std::size_t i = slots; i-- != 5;) EXPECT_EQ(magazine_.pop(), block(i));
  EXPECT_EQ(magazine_.pop(), nullptr);
}

TEST_F(Magazine, IsFilledFromItsOwnSlots) {
  open();
  for (std::size_t i = 3; i < 6; ++i) base()[i] = address_of(block(i));
  magazine_.fill(base(), base() + 3, base() + 6);
  EXPECT_TRUE(magazine_.is_intact(base(), slots));
  for (std::size_t i = 6; i-- != 3;) EXPECT_EQ(magazine_.pop(), block(i));
  EXPECT_EQ(magazine_.pop(), nullptr);
}

TEST_F(Magazine, AWriteToItsSlotsIsFound) {
  open();
  ASSERT_TRUE(magazine_.push(block(0)));
  for (const std::size_t i : {magazine::below - 1, memory_.size() - 1}) {
    const magazine::slot before = std::exchange(memory_[i], 5);
    EXPECT_FALSE(magazine_.is_intact(base(), slots)) << i;
    memory_[i] = before;
  }
  base()[0] = 0;
  EXPECT_FALSE(magazine_.is_intact(base(), slots)) << "a block is missing";
}

}  // namespace
}  // namespace mallard
