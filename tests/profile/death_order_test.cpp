#include "profile/death_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <tuple>
#include <vector>

namespace mallard::profile {
namespace {

using figures = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;  // together, lifo, one_by_one

figures deaths(const death_order& order, std::uint32_t group = 0) {
  const death_order::tally found = order.deaths(group);
  return {found.together, found.lifo, found.one_by_one};
}

void born(death_order& order, std::uint32_t slots) {
  for (std::uint32_t slot = 0; slot < slots; ++slot) order.born(0, slot);
}

TEST(death_order, the_youngest_of_two_dies_lifo_and_a_single_one_by_itself) {
  death_order order(1);
  born(order, 3);
  order.died(0, 2);
  EXPECT_EQ(deaths(order), figures(0, 1, 0));
  order.died(0, 0);  // the oldest
  EXPECT_EQ(deaths(order), figures(0, 1, 1));
  order.died(0, 1);  // the youngest, but the only one
  EXPECT_EQ(deaths(order), figures(0, 1, 2));
}

TEST(death_order, a_run_of_8_that_empties_the_group_dies_together) {
  for (const std::uint32_t objects : {7U, 8U, 20U}) {
    death_order order(1);
    born(order, objects);
    for (std::uint32_t slot = 0; slot < objects; ++slot) order.died(0, slot);
    EXPECT_EQ(deaths(order), objects < 8 ? figures(0, 0, objects) : figures(objects, 0, 0)) << objects;
  }
}

TEST(death_order, a_run_in_any_order_dies_together) {
  death_order order(1);
  born(order, 10);
  for (const std::uint32_t slot : {9U, 0U, 5U, 8U, 1U, 2U, 7U, 6U, 4U, 3U}) order.died(0, slot);
  EXPECT_EQ(deaths(order), figures(10, 0, 0));
}

TEST(death_order, a_birth_in_the_group_breaks_a_run) {
  death_order order(2);
  born(order, 10);
  for (std::uint32_t slot = 0; slot < 3; ++slot) order.died(0, slot);
  order.born(0, 0);
  for (const std::uint32_t slot : {0U, 3U, 4U, 5U, 6U, 7U, 8U, 9U}) order.died(0, slot);
  EXPECT_EQ(deaths(order), figures(8, 0, 3));
}

TEST(death_order, a_birth_in_another_group_does_not) {
  death_order order(2);
  born(order, 8);
  for (std::uint32_t slot = 0; slot < 4; ++slot) order.died(0, slot);
  order.born(1, 0);
  for (std::uint32_t slot = 4; slot < 8; ++slot) order.died(0, slot);
  EXPECT_EQ(deaths(order), figures(8, 0, 0));
}

TEST(death_order, a_run_that_leaves_one_alive_is_what_its_deaths_are) {
  death_order order(1);
  born(order, 12);
  for (std::uint32_t slot = 11; slot > 0; --slot) order.died(0, slot);
  EXPECT_EQ(deaths(order), figures(0, 11, 0));
}

TEST(death_order, a_reallocation_keeps_the_place_and_the_run) {
  death_order order(1);
  born(order, 10);
  for (std::uint32_t slot = 0; slot < 8; ++slot) order.died(0, slot);
  order.replaced(0, 8, 20);  // older than 9 still
  EXPECT_EQ(order.live(0), 2U);
  order.died(0, 9);
  EXPECT_EQ(deaths(order), figures(0, 1, 8));
  order.died(0, 20);
  EXPECT_EQ(deaths(order), figures(10, 0, 0)) << "the run went on";
}

TEST(death_order, what_takes_the_place_of_the_youngest_is_the_youngest) {
  death_order order(1);
  born(order, 2);
  order.replaced(0, 1, 1);
  order.replaced(0, 1, 3);
  order.died(0, 3);
  EXPECT_EQ(deaths(order), figures(0, 1, 0));
}

TEST(death_order, one_that_leaves_is_no_death_but_may_leave_nothing) {
  death_order order(1);
  born(order, 9);
  for (std::uint32_t slot = 0; slot < 8; ++slot) order.died(0, slot);
  order.left(0, 8);
  EXPECT_EQ(deaths(order), figures(8, 0, 0));

  death_order shorter(1);
  born(shorter, 8);
  for (std::uint32_t slot = 0; slot < 7; ++slot) shorter.died(0, slot);
  shorter.left(0, 7);
  EXPECT_EQ(deaths(shorter), figures(0, 0, 7)) << "seven deaths are no run";
}

// The same, remembering everything.
class model {
 public:
  void born(std::uint32_t slot) {
    live_.push_back(slot);
    ++births_;
  }

  void died(std::uint32_t slot) {
    const bool lifo = live_.back() == slot && live_.size() > 1;
    std::erase(live_, slot);
    deaths_.push_back({.births_before = births_, .lifo = lifo});
    emptied();
  }

  void left(std::uint32_t slot) {
    std::erase(live_, slot);
    emptied();
  }

  void replaced(std::uint32_t from, std::uint32_t to) { std::ranges::replace(live_, from, to); }

  [[nodiscard]] const std::vector<std::uint32_t>& live() const { return live_; }

  [[nodiscard]] figures sums() const {
    figures sums;
    for (const death& d : deaths_) ++(d.together ? get<0>(sums) : d.lifo ? get<1>(sums) : get<2>(sums));
    return sums;
  }

 private:
  struct death {
    std::uint64_t births_before;
    bool lifo;
    bool together = false;
  };

  void emptied() {
    if (!live_.empty()) return;
    const auto in_run = [this](const death& d) { return d.births_before == births_; };
    if (std::ranges::count_if(deaths_, in_run) < 8) return;
    for (death& d : deaths_) d.together |= in_run(d);
  }

  std::vector<std::uint32_t> live_;  // by birth
  std::uint64_t births_ = 0;
  std::vector<death> deaths_;
};

TEST(death_order, agrees_with_a_model_that_remembers_everything) {
  std::mt19937_64 random(5);
  constexpr std::uint32_t groups = 3;
  death_order order(groups);
  std::vector<model> models(groups);
  std::vector<std::uint32_t> free_slots(200);
  std::iota(free_slots.begin(), free_slots.end(), 0U);
  bool growing = true;
  for (int step = 0; step < 30'000; ++step) {
    if (random() % 50 == 0) growing = !growing;
    const auto group = static_cast<std::uint32_t>(random() % groups);
    const std::vector<std::uint32_t>& live = models[group].live();
    if (!free_slots.empty() && random() % 100 < (growing ? 70U : 2U)) {
      order.born(group, free_slots.back());
      models[group].born(free_slots.back());
      free_slots.pop_back();
    } else if (!live.empty()) {
      const std::uint32_t slot = random() % 2 == 0 ? live.back() : live[random() % live.size()];
      const std::uint64_t what = random() % 10;
      if (what == 0 && !free_slots.empty()) {
        order.replaced(group, slot, free_slots.front());
        models[group].replaced(slot, free_slots.front());
        free_slots.front() = slot;
        continue;
      }
      free_slots.push_back(slot);
      if (what == 1) {
        order.left(group, slot);
        models[group].left(slot);
      } else {
        order.died(group, slot);
        models[group].died(slot);
      }
    }
    for (std::uint32_t g = 0; g < groups; ++g) {
      ASSERT_EQ(deaths(order, g), models[g].sums()) << step;
      ASSERT_EQ(order.live(g), models[g].live().size()) << step;
    }
  }
  for (std::uint32_t g = 0; g < groups; ++g) {
    const auto [together, lifo, one_by_one] = deaths(order, g);
    EXPECT_GT(together, 100U);
    EXPECT_GT(lifo, 100U);
    EXPECT_GT(one_by_one, 100U);
  }
}

}  // namespace
}  // namespace mallard::profile
