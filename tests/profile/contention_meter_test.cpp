#include "profile/contention_meter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace mallard::profile {
namespace {

constexpr std::uint64_t ms = contention_meter::span_ns;

void operations(contention_meter& meter, std::uint32_t thread, std::uint64_t time, int count,
                std::uint32_t group = 0) {
  for (int i = 0; i < count; ++i) meter.operation(group, thread, time);
}

TEST(contention_meter, two_threads_at_known_rates) {
  contention_meter meter(1, {1000});
  operations(meter, 0, 10, 200);  // b = 0.2
  operations(meter, 1, 20, 500);  // b = 0.5
  meter.finish();
  const contention_meter::result found = meter.of(0);
  EXPECT_EQ(found.active_threads, 2U);
  EXPECT_DOUBLE_EQ(found.contention, (0.2 * 0.5 + 0.5 * 0.2) / 2);
  EXPECT_DOUBLE_EQ(found.overlaps, 0.2 * 0.5 * 1000);
}

TEST(contention_meter, three_threads_at_known_rates) {
  contention_meter meter(1, {1000});
  operations(meter, 0, 0, 100);
  operations(meter, 4, 0, 200);
  operations(meter, 2, 0, 500);
  meter.finish();
  const double meets = 0.1 * (1 - 0.8 * 0.5) + 0.2 * (1 - 0.9 * 0.5) + 0.5 * (1 - 0.9 * 0.8);
  EXPECT_DOUBLE_EQ(meter.of(0).contention, meets / 3);
  EXPECT_DOUBLE_EQ(meter.of(0).overlaps, (0.1 * 0.2 + 0.1 * 0.5 + 0.2 * 0.5) * 1000);
}

TEST(contention_meter, threads_in_different_spans_do_not_meet) {
  contention_meter meter(1, {1000});
  operations(meter, 0, ms - 1, 900);
  operations(meter, 1, ms, 900);
  meter.finish();
  EXPECT_EQ(meter.of(0).active_threads, 2U);
  EXPECT_EQ(meter.of(0).contention, 0);
  EXPECT_EQ(meter.of(0).overlaps, 0);
}

TEST(contention_meter, spans_with_one_thread_count_and_empty_ones_do_not) {
  contention_meter meter(1, {1000});
  operations(meter, 0, 0, 500);
  operations(meter, 1, 0, 500);
  operations(meter, 0, 700 * ms, 500);
  meter.finish();
  EXPECT_DOUBLE_EQ(meter.of(0).contention, 0.5 * 0.5 / 2);
}

TEST(contention_meter, a_thread_is_busy_for_no_more_than_all_of_a_span) {
  contention_meter meter(1, {1e6});
  operations(meter, 0, 0, 50);
  operations(meter, 1, 0, 50);
  meter.finish();
  EXPECT_DOUBLE_EQ(meter.of(0).contention, 1);
  EXPECT_DOUBLE_EQ(meter.of(0).overlaps, 1);
}

TEST(contention_meter, what_is_said_to_be_earlier_counts_in_the_open_span) {
  contention_meter meter(1, {1000});
  operations(meter, 0, 5 * ms, 500);
  operations(meter, 1, 5 * ms - 1, 500);
  meter.finish();
  EXPECT_DOUBLE_EQ(meter.of(0).contention, 0.25);
}

TEST(contention_meter, groups_do_not_meet_each_other) {
  contention_meter meter(2, {1000, 1000});
  operations(meter, 0, 0, 500, 0);
  operations(meter, 1, 0, 500, 1);
  meter.finish();
  for (const std::uint32_t group : {0U, 1U}) {
    EXPECT_EQ(meter.of(group).active_threads, 1U);
    EXPECT_EQ(meter.of(group).contention, 0);
  }
}

TEST(contention_meter, operations_that_take_no_time_never_meet) {
  contention_meter meter(1, {0});
  operations(meter, 0, 0, 10);
  operations(meter, 1, 0, 10);
  meter.finish();
  EXPECT_EQ(meter.of(0).contention, 0);
  EXPECT_EQ(meter.of(0).overlaps, 0);
}

TEST(contention_meter, without_durations_threads_are_counted_only) {
  contention_meter meter(2, {});
  operations(meter, 0, 0, 10, 1);
  operations(meter, 3, 0, 10, 1);
  meter.finish();
  EXPECT_EQ(meter.of(0).active_threads, 0U);
  EXPECT_EQ(meter.of(1).active_threads, 2U);
  EXPECT_EQ(meter.of(1).contention, 0);
}

// The formulas of docs/profile.md, word by word.
class model {
 public:
  explicit model(double ns) : ns_(ns) {}

  void operation(std::uint32_t thread, std::uint64_t time) { ++spans_[time / ms][thread]; }

  [[nodiscard]] contention_meter::result sums() const {
    contention_meter::result sums;
    for (const auto& [span, threads] : spans_) {
      std::vector<double> b;
      for (const auto& [thread, count] : threads) b.push_back(std::min(1.0, count * ns_ / 1e6));
      double meets = 0;
      for (std::size_t i = 0; i < b.size(); ++i) {
        double others_idle = 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
          if (j != i) others_idle *= 1 - b[j];
          if (j > i) sums.overlaps += b[i] * b[j] * 1e6 / ns_;
        }
        meets += b[i] * (1 - others_idle);
      }
      sums.contention += meets / static_cast<double>(b.size()) / static_cast<double>(spans_.size());
    }
    return sums;
  }

 private:
  double ns_;
  std::map<std::uint64_t, std::map<std::uint32_t, int>> spans_;
};

TEST(contention_meter, agrees_with_the_formulas_on_random_operations) {
  std::mt19937_64 random(17);
  const std::vector<double> ns{300, 5'000, 70'000};
  contention_meter meter(3, ns);
  std::vector<model> models(ns.begin(), ns.end());
  std::uint64_t time = 0;
  for (int step = 0; step < 30'000; ++step) {
    time += random() % 400 == 0 ? random() % (20 * ms) : random() % 3'000;
    const auto group = static_cast<std::uint32_t>(random() % ns.size());
    const auto thread = static_cast<std::uint32_t>(random() % (1 + random() % 9));
    meter.operation(group, thread, time);
    models[group].operation(thread, time);
  }
  meter.finish();
  for (std::uint32_t group = 0; group < ns.size(); ++group) {
    const contention_meter::result expected = models[group].sums();
    EXPECT_EQ(meter.of(group).active_threads, 9U);
    EXPECT_NEAR(meter.of(group).contention, expected.contention, 1e-9 * expected.contention);
    EXPECT_NEAR(meter.of(group).overlaps, expected.overlaps, 1e-9 * expected.overlaps);
    EXPECT_GT(expected.contention, 0);
  }
}

TEST(participants, a_pair_keeps_its_slot_and_no_other_has_it) {
  std::mt19937_64 random(3);
  constexpr std::uint32_t groups = 20;
  participants slots(groups);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> model;
  std::vector<std::set<std::uint32_t>> threads(groups);
  for (int step = 0; step < 5'000; ++step) {
    const auto group = static_cast<std::uint32_t>(random() % groups);
    const auto thread = static_cast<std::uint32_t>(random() % (group + 1));
    const auto next = static_cast<std::uint32_t>(model.size());
    const std::uint32_t expected = model.try_emplace({group, thread}, next).first->second;
    ASSERT_EQ(slots.slot(group, thread), expected);
    threads[group].insert(thread);
  }
  for (std::uint32_t group = 0; group < groups; ++group)
    EXPECT_EQ(slots.threads(group), threads[group].size()) << group;
}

TEST(participants, a_group_that_nobody_came_to_has_no_threads) {
  participants slots(2);
  slots.slot(1, 0);
  EXPECT_EQ(slots.threads(0), 0U);
  EXPECT_EQ(slots.threads(1), 1U);
}

}  // namespace
}  // namespace mallard::profile
