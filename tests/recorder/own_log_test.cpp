// The comparison with a program's own log finds what is lost, doubled or not the same, whenever it happened.
#include "recorder/own_log.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace mallard::test {
namespace {

constexpr std::uint64_t every_ns = 1000;
constexpr std::uint64_t the_end = UINT64_MAX;

class own_log_of_a_thread : public testing::Test {
 protected:
  own_log_of_a_thread() {
    journal_.tables.threads = {{.system_id = 5}};
    log_.threads = {{.system_id = 5, .entries = {}}};
    for (std::uint64_t i = 1; i <= 10; ++i) {
      journal_.events.push_back({.kind = event_kind::malloc, .time = i, .address = 16 * i, .size = 7000 + i});
      log_.threads[0].entries.push_back({every_ns * i, 16 * i, 7000 + i});
    }
  }

  // What the comparison says, all from before `since_ns` being demanded.
  [[nodiscard]] std::string said(std::uint64_t since_ns = the_end) const {
    return compare_with_own_log(journal_, log_, since_ns);
  }

  recorded journal_;
  own_log log_;
};

TEST_F(own_log_of_a_thread, agrees_with_a_whole_journal) { EXPECT_EQ(said(), ""); }

TEST_F(own_log_of_a_thread, lets_nothing_be_lost_but_at_the_very_end) {
  journal_.events.pop_back();
  EXPECT_NE(said(), "");
  EXPECT_EQ(said(10 * every_ns), "");
  journal_.events.pop_back();
  EXPECT_NE(said(10 * every_ns), "");
  journal_.events.erase(journal_.events.begin() + 3);
  EXPECT_NE(said(every_ns), "");
}

TEST_F(own_log_of_a_thread, lets_nothing_be_doubled) {
  journal_.events.insert(journal_.events.begin() + 3, journal_.events[3]);
  EXPECT_NE(said(), "");
}

TEST_F(own_log_of_a_thread, lets_one_event_at_most_be_ahead_of_the_log) {
  log_.threads[0].entries.pop_back();
  EXPECT_EQ(said(), "");
  log_.threads[0].entries.pop_back();
  EXPECT_NE(said(), "");
}

TEST_F(own_log_of_a_thread, lets_nothing_be_another_or_out_of_order) {
  std::swap(journal_.events[3].address, journal_.events[4].address);
  EXPECT_NE(said(), "");
  std::swap(journal_.events[3], journal_.events[4]);
  EXPECT_NE(said(), "");
}

}  // namespace
}  // namespace mallard::test
