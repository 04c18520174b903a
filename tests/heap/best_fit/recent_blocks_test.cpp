#include "mallard/heap/best_fit/recent_blocks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <new>
#include <vector>

#include "core/tagged_region.hpp"

namespace mallard {
namespace {

class RecentBlocks : public testing::Test {
 protected:
  [[nodiscard]] bool is_whole(std::size_t blocks) const {
    std::size_t seen = 0;
    return recent_.each([&](const boundary_tag*, std::size_t) { return ++seen != 0; }) && seen == blocks;
  }

  std::unique_ptr<tagged_region<65536>> region_ = std::make_unique<tagged_region<65536>>();
  recent_blocks recent_;
};

TEST_F(RecentBlocks, TheLastOfASizeComesFirst) {
  boundary_tag* const first = region_->divide(64);
  EXPECT_EQ(recent_.take(64), nullptr);
  EXPECT_TRUE(recent_.put(first, 64));
  EXPECT_TRUE(recent_.put(first->next(), 64));
  EXPECT_EQ(recent_.take(48), nullptr);
  EXPECT_EQ(recent_.take(80), nullptr);
  EXPECT_TRUE(is_whole(2));
  EXPECT_EQ(recent_.take(64), first->next());
  EXPECT_EQ(recent_.take(64), first);
  EXPECT_TRUE(recent_.empty());
}

TEST_F(RecentBlocks, TellsWhenTheyAreTooMany) {
  boundary_tag* b = region_->divide(512);
  std::size_t blocks = 1;
  for (; recent_.put(b, 512); b = b->next()) ++blocks;
  EXPECT_EQ(blocks * 512, static_cast<std::size_t>(recent_blocks::most));
  std::vector<boundary_tag*> taken;
  recent_.take_all([&](boundary_tag* out) { taken.push_back(out); });
  EXPECT_EQ(taken.size(), blocks);
  EXPECT_TRUE(recent_.empty());
  EXPECT_TRUE(is_whole(0));
}

// What lies in their memory before they begin is not zero.
TEST_F(RecentBlocks, BeginWhereNothingIsWritten) {
  alignas(recent_blocks) std::byte place[sizeof(recent_blocks)];
  recent_blocks& fresh = *::new (std::memset(place, 0xff, sizeof place)) recent_blocks;
  const auto written =
      std::count_if(place, std::end(place), [](std::byte b) { return b != std::byte{0xff}; });
  EXPECT_LE(written, 16);
  EXPECT_TRUE(fresh.empty());
  EXPECT_EQ(fresh.take(64), nullptr);
  EXPECT_FALSE(fresh.take_out(region_->divide(64)));
  fresh.take_all([](boundary_tag*) { FAIL(); });
  EXPECT_TRUE(fresh.put(region_->divide(64), 64));
  EXPECT_FALSE(fresh.empty());
  EXPECT_EQ(fresh.take(80), nullptr);
  EXPECT_EQ(fresh.take(64), region_->first());
}

TEST_F(RecentBlocks, OneOfTheLastIsTakenOutByItself) {
  boundary_tag* const first = region_->divide(64);
  boundary_tag* b = first;
  for (int i = 0; i < 6; ++i, b = b->next()) EXPECT_TRUE(recent_.put(b, 64));
  EXPECT_FALSE(recent_.take_out(first)) << "five came after it";
  EXPECT_FALSE(recent_.take_out(b)) << "it is in use";
  EXPECT_TRUE(recent_.take_out(first->next()->next()->next()));
  EXPECT_TRUE(is_whole(5));
}

TEST_F(RecentBlocks, ASumThatIsWrongIsSeen) {
  boundary_tag* const b = region_->divide(64);
  EXPECT_TRUE(recent_.put(b, 64));
  EXPECT_TRUE(recent_.put(b->next(), 64));
  static_cast<void**>(b->next()->data())[0] = nullptr;
  EXPECT_FALSE(is_whole(1));
  recent_.clear();
  EXPECT_TRUE(is_whole(0));
}

}  // namespace
}  // namespace mallard
