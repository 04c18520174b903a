#include "mallard/debug/block_table.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace mallard {
namespace {

class BlockTable : public testing::Test {
 protected:
  BlockTable() {
    table_.set_handler(
        [](const misuse_report& r, void* seen) { static_cast<BlockTable*>(seen)->seen_.push_back(r); }, this);
  }

  // A block of 20 bytes in the middle of 64, the i-th of such.
  known_block* add(std::size_t i) {
    return table_.add(bytes_ + 64 * i + 16, 20, 8, {bytes_ + 64 * i, 64}, call_place::from(nullptr));
  }

  std::byte bytes_[64 * 8];
  block_table table_{"orders"};
  std::vector<misuse_report> seen_;
};

TEST_F(BlockTable, CountsBlocksAndTheirBytes) {
  known_block* const a = add(0);
  add(1);
  EXPECT_EQ(table_.blocks(), (counters{2, 2, 2}));
  EXPECT_EQ(table_.bytes(), (counters{40, 40, 40}));
  EXPECT_EQ(table_.usage(), (heap_usage{128, 128, 40}));
  table_.set_freed(a, {});
  EXPECT_EQ(table_.blocks(), (counters{1, 2, 2}));
  EXPECT_EQ(table_.usage(), (heap_usage{128, 64, 20}));
  EXPECT_EQ(table_.freed_bytes(), 64u);
  table_.forget(a);
  EXPECT_EQ(table_.usage(), (heap_usage{64, 64, 20}));
  EXPECT_EQ(table_.freed_bytes(), 0u);
}

TEST_F(BlockTable, FindsTheBlockThatIsGivenBackAsItWasAskedFor) {
  known_block* const a = add(0);
  EXPECT_EQ(table_.ended(a->data, 20, 8, {}), a);
  EXPECT_TRUE(seen_.empty());
  known_block* const nothing = table_.add(bytes_ + 80, 0, 1, {bytes_ + 64, 64}, {});
  EXPECT_EQ(nothing->received(), 1u);
  EXPECT_EQ(table_.ended(nothing->data, 0, 1, {}), nothing);
  EXPECT_EQ(table_.ended(nothing->data, 1, 1, {}), nothing) << "as much as it received";
  EXPECT_TRUE(seen_.empty());
}

TEST_F(BlockTable, TellsAWrongSizeAndAlignmentOfABlockThatItFinds) {
  known_block* const a = add(0);
  EXPECT_EQ(table_.ended(a->data, 19, 8, {}), a);
  EXPECT_EQ(table_.ended(a->data, 20, 4, {}), a);
  EXPECT_EQ(table_.ended(a->data, 21, 16, {}), a);
  ASSERT_EQ(seen_.size(), 4u);
  EXPECT_EQ(seen_[0].what, misuse::wrong_size);
  EXPECT_EQ(seen_[0].size, 19u);
  EXPECT_EQ(seen_[1].what, misuse::wrong_align);
  EXPECT_EQ(seen_[1].align, 4u);
  EXPECT_EQ(seen_[1].block, a);
}

TEST_F(BlockTable, TellsAForeignPointerAndWhatItIsNearTo) {
  known_block* const a = add(1);
  EXPECT_EQ(table_.ended(&table_, 20, 8, {}), nullptr);
  EXPECT_EQ(table_.ended(a->data + 8, 20, 8, {}), nullptr);
  ASSERT_EQ(seen_.size(), 2u);
  EXPECT_EQ(seen_[0].what, misuse::foreign_pointer);
  EXPECT_EQ(seen_[0].block, nullptr);
  EXPECT_EQ(seen_[1].block, a);
  EXPECT_EQ(seen_[1].heap, table_.name());
}

TEST_F(BlockTable, TellsADoubleFreeUntilTheBlockIsForgotten) {
  known_block* const a = add(0);
  std::byte* const data = a->data;
  table_.set_freed(a, call_place::from(nullptr));
  EXPECT_EQ(table_.ended(data, 20, 8, {}), nullptr);
  EXPECT_FALSE(seen_[0].block->freed.empty());
  EXPECT_EQ(seen_[0].what, misuse::double_free);
  EXPECT_EQ(table_.live_at(data), nullptr);
  table_.forget(a);
  EXPECT_EQ(table_.ended(data, 20, 8, {}), nullptr);
  EXPECT_EQ(seen_[1].what, misuse::foreign_pointer);
}

TEST_F(BlockTable, KnowsWhatBlockSurroundsAnAddress) {
  known_block* const a = add(1);
  known_block* const b = add(3);
  table_.set_freed(b, {});
  EXPECT_EQ(table_.around(bytes_ + 63), nullptr);
  EXPECT_EQ(table_.around(bytes_ + 64), a);
  EXPECT_EQ(table_.around(a->data), a);
  EXPECT_EQ(table_.around(bytes_ + 127), a);
  EXPECT_EQ(table_.around(bytes_ + 128), nullptr);
  EXPECT_EQ(table_.around(bytes_ + 200), b);
  EXPECT_EQ(table_.live_at(a->data), a);
}

TEST_F(BlockTable, KeepsBothListsInOrder) {
  known_block* const all[] = {add(0), add(1), add(2), add(3)};
  table_.set_freed(all[2], {});
  table_.set_freed(all[0], {});
  table_.set_freed(all[3], {});
  EXPECT_EQ(table_.oldest_live(), all[1]);
  EXPECT_EQ(all[1]->newer, nullptr);
  EXPECT_EQ(table_.oldest_freed(), all[2]);
  EXPECT_EQ(all[2]->newer, all[0]);
  table_.forget(all[0]);
  EXPECT_EQ(all[2]->newer, all[3]);
  table_.forget(all[2]);
  EXPECT_EQ(table_.oldest_freed(), all[3]);
  table_.forget(all[3]);
  EXPECT_EQ(table_.oldest_freed(), nullptr);
}

TEST_F(BlockTable, ReportsLeaksInTheOrderOfAllocationFromANumberOn) {
  add(5);
  const std::uint64_t since = table_.last_number();
  add(4);
  table_.set_freed(add(3), {});
  add(2);
  EXPECT_EQ(table_.report_leaks(since, {}, "after all"), 2u);
  ASSERT_EQ(seen_.size(), 2u);
  EXPECT_EQ(seen_[0].pointer, bytes_ + 64 * 4 + 16);
  EXPECT_EQ(seen_[1].pointer, bytes_ + 64 * 2 + 16);
  EXPECT_EQ(seen_[1].what, misuse::leaked);
  EXPECT_STREQ(seen_[1].when, "after all");
  EXPECT_EQ(table_.report_leaks(table_.last_number(), {}), 0u);
}

TEST_F(BlockTable, TellsALeakOnce) {
  add(0);
  EXPECT_EQ(table_.report_leaks(0, {}), 1u);
  add(1);
  EXPECT_EQ(table_.report_leaks(0, {}), 1u);
  EXPECT_EQ(table_.report_leaks(0, {}), 0u);
  ASSERT_EQ(seen_.size(), 2u);
  EXPECT_EQ(seen_[1].pointer, bytes_ + 64 + 16);
}

TEST_F(BlockTable, TakesABlockWhereOneWasForItsSuccessor) {
  add(0);
  known_block* const between = add(1);
  known_block* const again = add(0);
  EXPECT_EQ(table_.blocks(), (counters{2, 2, 3}));
  EXPECT_EQ(table_.oldest_live(), between);
  EXPECT_EQ(between->newer, again);
  EXPECT_EQ(again->newer, nullptr);
  table_.set_freed(between, {});
  EXPECT_EQ(add(1)->number, 4u);
  EXPECT_EQ(table_.oldest_freed(), nullptr);
  EXPECT_EQ(table_.usage(), (heap_usage{128, 128, 40}));
}

using BlockTableDeathTest = BlockTable;

TEST_F(BlockTableDeathTest, PrintsAndAbortsUnlessThereIsAHandler) {
  table_.set_handler(nullptr, nullptr);
  EXPECT_DEATH((void)table_.ended(&table_, 20, 8, {}), "mallard: orders: deallocate of a foreign pointer");
}

TEST_F(BlockTableDeathTest, PrintsSomeLeaksAndTheSumOfAll) {
  table_.set_handler(nullptr, nullptr);
  std::vector<std::byte> many(64 * 40);
  for (std::size_t i = 0; i < 40; ++i) (void)table_.add(&many[64 * i], 10, 1, {&many[64 * i], 64}, {});
  EXPECT_DEATH((void)table_.report_leaks(0, {}), "block number 16\n.*blocks leaked: 40, bytes: 400");
}

}  // namespace
}  // namespace mallard
