#include "mallard/heap/adaptive_pool/tray_shelves.hpp"

#include <gtest/gtest.h>

#include <array>

namespace mallard {
namespace {

constexpr auto any = [](const tray*) { return true; };

class TrayShelves : public testing::Test {
 protected:
  TrayShelves() {
    for (tray& t : trays_) t.capacity = 80;
  }

  std::array<tray, 4> trays_{};
  tray_shelves shelves_;
};

TEST_F(TrayShelves, GiveAFullerTrayFirst) {
  EXPECT_EQ(shelves_.fullest(), nullptr);
  shelves_.put(&trays_[0], 79);
  shelves_.put(&trays_[1], 1);
  shelves_.put(&trays_[2], 35);
  EXPECT_EQ(shelves_.fullest(), &trays_[1]);
  shelves_.erase(&trays_[1]);
  EXPECT_EQ(shelves_.fullest(), &trays_[2]);
  shelves_.erase(&trays_[2]);
  EXPECT_EQ(shelves_.fullest(), &trays_[0]);
  shelves_.erase(&trays_[0]);
  EXPECT_EQ(shelves_.fullest(), nullptr);
  EXPECT_FALSE(shelves_.validate(0, any));
}

TEST_F(TrayShelves, HaveATrayLookedAtAtTheNextEighthOrWhenAllIsFree) {
  for (const auto& [free, next] : {std::pair{1u, 10u}, {9u, 10u}, {10u, 20u}, {69u, 70u}, {70u, 80u}}) {
    shelves_.put(trays_.data(), free);
    EXPECT_EQ(trays_[0].goal, next);
    EXPECT_EQ(trays_[0].until, next - free);
    shelves_.erase(trays_.data());
  }
}

TEST_F(TrayShelves, EverySmallTrayIsLookedAtOnTheWay) {
  for (std::uint32_t capacity = 2; capacity < 100; ++capacity) {
    trays_[0].capacity = capacity;
    for (std::size_t free = 1; free < capacity;) {
      shelves_.put(trays_.data(), free);
      EXPECT_GT(trays_[0].goal, free);
      EXPECT_LE(trays_[0].goal, capacity);
      EXPECT_FALSE(shelves_.validate(1, any));
      shelves_.erase(trays_.data());
      free = trays_[0].goal;
    }
  }
}

TEST_F(TrayShelves, KnowWhatIsNearlyAsFullAsTheFullest) {
  shelves_.put(&trays_[0], 25);
  shelves_.put(&trays_[1], 35);
  shelves_.put(&trays_[2], 45);
  trays_[3].look_when(tray_shelves::when_full, 0);
  EXPECT_TRUE(shelves_.is_nearly_fullest(&trays_[0]));
  EXPECT_TRUE(shelves_.is_nearly_fullest(&trays_[1]));
  EXPECT_FALSE(shelves_.is_nearly_fullest(&trays_[2])) << "two eighths emptier";
  EXPECT_FALSE(shelves_.is_nearly_fullest(&trays_[3])) << "full";
}

TEST_F(TrayShelves, KnowWhetherAQuarterOfEachIsFree) {
  shelves_.put(&trays_[0], 70);
  shelves_.put(&trays_[1], 20);
  EXPECT_TRUE(shelves_.is_much_free());
  shelves_.put(&trays_[2], 19);
  EXPECT_FALSE(shelves_.is_much_free());
}

TEST_F(TrayShelves, SeeAMissingTrayAndOneThatBelongsElsewhere) {
  shelves_.put(&trays_[0], 25);
  EXPECT_TRUE(shelves_.validate(2, any));
  EXPECT_TRUE(shelves_.validate(0, any));
  EXPECT_FALSE(shelves_.validate(1, any));
  trays_[0].goal = 60;
  EXPECT_TRUE(shelves_.validate(1, any));
}

}  // namespace
}  // namespace mallard
