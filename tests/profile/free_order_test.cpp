#include "profile/free_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <tuple>
#include <vector>

#include "slow_tests.hpp"

namespace mallard::profile {
namespace {

using figures = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;  // together, lifo, one_by_one

figures frees(const free_order& order, std::uint32_t group = 0) {
  const free_order::counts found = order.frees(group);
  return {found.together, found.lifo, found.one_by_one};
}

void allocated(free_order& order, std::uint32_t slots) {
  for (std::uint32_t slot = 0; slot < slots; ++slot) order.allocated(0, slot);
}

TEST(free_order, the_youngest_of_two_is_freed_lifo_and_a_single_one_by_itself) {
  free_order order(1);
  allocated(order, 3);
  order.freed(0, 2);
  EXPECT_EQ(frees(order), figures(0, 1, 0));
  order.freed(0, 0);  // the oldest
  EXPECT_EQ(frees(order), figures(0, 1, 1));
  order.freed(0, 1);  // the youngest, but the only one
  EXPECT_EQ(frees(order), figures(0, 1, 2));
}

TEST(free_order, a_run_of_8_that_empties_the_group_is_freed_together) {
  for (const std::uint32_t objects : {7U, 8U, 20U}) {
    free_order order(1);
    allocated(order, objects);
    for (std::uint32_t slot = 0; slot < objects; ++slot) order.freed(0, slot);
    EXPECT_EQ(frees(order), objects < 8 ? figures(0, 0, objects) : figures(objects, 0, 0)) << objects;
  }
}

TEST(free_order, a_run_in_any_order_is_freed_together) {
  free_order order(1);
  allocated(order, 10);
  for (const std::uint32_t slot : {9U, 0U, 5U, 8U, 1U, 2U, 7U, 6U, 4U, 3U}) order.freed(0, slot);
  EXPECT_EQ(frees(order), figures(10, 0, 0));
}

TEST(free_order, an_allocation_in_the_group_breaks_a_run) {
  free_order order(2);
  allocated(order, 10);
  for (std::uint32_t slot = 0; slot < 3; ++slot) order.freed(0, slot);
  order.allocated(0, 0);
  for (const std::uint32_t slot : {0U, 3U, 4U, 5U, 6U, 7U, 8U, 9U}) order.freed(0, slot);
  EXPECT_EQ(frees(order), figures(8, 0, 3));
}

TEST(free_order, an_allocation_in_another_group_does_not) {
  free_order order(2);
  allocated(order, 8);
  for (std::uint32_t slot = 0; slot < 4; ++slot) order.freed(0, slot);
  order.allocated(1, 0);
  for (std::uint32_t slot = 4; slot < 8; ++slot) order.freed(0, slot);
  EXPECT_EQ(frees(order), figures(8, 0, 0));
}

TEST(free_order, a_run_that_leaves_one_alive_is_what_its_frees_are) {
  free_order order(1);
  allocated(order, 12);
  for (std::uint32_t slot = 11; slot > 0; --slot) order.freed(0, slot);
  EXPECT_EQ(frees(order), figures(0, 11, 0));
}

TEST(free_order, a_reallocation_keeps_the_place_and_the_run) {
  free_order order(1);
  allocated(order, 10);
  for (std::uint32_t slot = 0; slot < 8; ++slot) order.freed(0, slot);
  order.replaced(0, 8, 20);  // older than 9 still
  EXPECT_EQ(order.live(0), 2U);
  order.freed(0, 9);
  EXPECT_EQ(frees(order), figures(0, 1, 8));
  order.freed(0, 20);
  EXPECT_EQ(frees(order), figures(10, 0, 0)) << "the run went on";
}

TEST(free_order, what_takes_the_place_of_the_youngest_is_the_youngest) {
  free_order order(1);
  allocated(order, 2);
  order.replaced(0, 1, 1);
  order.replaced(0, 1, 3);
  order.freed(0, 3);
  EXPECT_EQ(frees(order), figures(0, 1, 0));
}

TEST(free_order, one_that_leaves_is_no_free_but_may_leave_nothing) {
  free_order order(1);
  allocated(order, 9);
  for (std::uint32_t slot = 0; slot < 8; ++slot) order.freed(0, slot);
  order.left(0, 8);
  EXPECT_EQ(frees(order), figures(8, 0, 0));

  free_order shorter(1);
  allocated(shorter, 8);
  for (std::uint32_t slot = 0; slot < 7; ++slot) shorter.freed(0, slot);
  shorter.left(0, 7);
  EXPECT_EQ(frees(shorter), figures(0, 0, 7)) << "seven frees are no run";
}

// The same, remembering everything.
class model {
 public:
  void allocated(std::uint32_t slot) {
    live_.push_back(slot);
    ++allocations_;
  }

  void freed(std::uint32_t slot) {
    const bool lifo = live_.back() == slot && live_.size() > 1;
    std::erase(live_, slot);
    frees_.push_back({.allocations_before = allocations_, .lifo = lifo});
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
    for (const one_free& d : frees_) ++(d.together ? get<0>(sums) : d.lifo ? get<1>(sums) : get<2>(sums));
    return sums;
  }

 private:
  struct one_free {
    std::uint64_t allocations_before;
    bool lifo;
    bool together = false;
  };

  void emptied() {
    if (!live_.empty()) return;
    const auto in_run = [this](const one_free& d) { return d.allocations_before == allocations_; };
    if (std::ranges::count_if(frees_, in_run) < 8) return;
    for (one_free& d : frees_) d.together |= in_run(d);
  }

  std::vector<std::uint32_t> live_;  // by allocation
  std::uint64_t allocations_ = 0;
  std::vector<one_free> frees_;
};

TEST(free_order, agrees_with_a_model_that_remembers_everything) {
  std::mt19937_64 random(5);
  constexpr std::uint32_t groups = 3;
  free_order order(groups);
  std::vector<model> models(groups);
  std::vector<std::uint32_t> free_slots(200);
  std::iota(free_slots.begin(), free_slots.end(), 0U);
  bool growing = true;
  for (int step = 0; step < (test::slow_tests ? 30'000 : 10'000); ++step) {
    if (random() % 50 == 0) growing = !growing;
    const auto group = static_cast<std::uint32_t>(random() % groups);
    const std::vector<std::uint32_t>& live = models[group].live();
    if (!free_slots.empty() && random() % 100 < (growing ? 70U : 2U)) {
      order.allocated(group, free_slots.back());
      models[group].allocated(free_slots.back());
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
        order.freed(group, slot);
        models[group].freed(slot);
      }
    }
    for (std::uint32_t g = 0; g < groups; ++g) {
      ASSERT_EQ(frees(order, g), models[g].sums()) << step;
      ASSERT_EQ(order.live(g), models[g].live().size()) << step;
    }
  }
  for (std::uint32_t g = 0; g < groups; ++g) {
    const auto [together, lifo, one_by_one] = frees(order, g);
    EXPECT_GT(together, 100U);
    EXPECT_GT(lifo, 100U);
    EXPECT_GT(one_by_one, 100U);
  }
}

}  // namespace
}  // namespace mallard::profile
