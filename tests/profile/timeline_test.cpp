#include "profile/timeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "journal/open.hpp"
#include "profile/journal_pass.hpp"
#include "scratch_folder.hpp"

namespace mallard::profile {
namespace {

using row = std::vector<std::uint64_t>;

TEST(timeline, has_a_row_for_each_ns_at_first) {
  timeline_builder over_time;
  over_time.advance(0, {});
  over_time.allocation({.live_bytes = 5, .live_objects = 1, .held_bytes = 4096});
  over_time.advance(2, {.live_bytes = 5, .live_objects = 1, .held_bytes = 4096});
  over_time.allocation({.live_bytes = 9, .live_objects = 2, .held_bytes = 8192});
  over_time.advance(4, {});
  const timeline& rows = over_time.rows();
  EXPECT_EQ(rows.bucket_ns, 1U);
  EXPECT_EQ(rows.live_bytes, (row{5, 5, 9, 0, 0}));
  EXPECT_EQ(rows.live_objects, (row{1, 1, 2, 0, 0}));
  EXPECT_EQ(rows.held_bytes, (row{4096, 4096, 8192, 0, 0}));
  EXPECT_EQ(rows.allocations, (row{1, 0, 1, 0, 0}));
}

TEST(timeline, takes_any_moment) {
  timeline_builder over_time;
  over_time.advance(UINT64_MAX, {.live_bytes = 3});
  over_time.advance(UINT64_MAX, {.live_bytes = 3});
  over_time.allocation({.live_bytes = 4});
  EXPECT_EQ(over_time.rows().live_bytes.size(), timeline_builder::most_rows);
  EXPECT_EQ(over_time.rows().live_bytes.back(), 4U);
  EXPECT_EQ(over_time.rows().live_bytes.front(), 3U);
}

// Against the moments themselves, sorted into spans of the length that was found.
TEST(timeline, holds_the_most_of_each_span_whenever_it_ends) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    std::mt19937_64 random(seed);
    struct moment {
      std::uint64_t time;
      std::uint64_t live;
      bool allocation;
    };
    std::vector<moment> moments;
    timeline_builder over_time;
    std::uint64_t time = 0;
    std::uint64_t live = 0;
    const std::uint64_t step = std::uint64_t{1} << (seed % 30);
    for (std::size_t i = 0, count = 1 + random() % 3000; i < count; ++i) {
      time += random() % 50 == 0 ? random() % (100 * step) : random() % step;
      over_time.advance(time, {.live_bytes = live});
      const bool allocation = live == 0 || random() % 2 == 0;
      live = allocation ? live + random() % 100 : live - std::min<std::uint64_t>(live, random() % 100);
      if (allocation) over_time.allocation({.live_bytes = live});
      moments.push_back({time, live, allocation});
    }
    const timeline& rows = over_time.rows();
    row most(time / rows.bucket_ns + 1);
    row allocations(most.size());
    live = 0;
    std::size_t next = 0;
    for (std::size_t span = 0; span < most.size(); ++span) {
      most[span] = live;
      for (; next < moments.size() && moments[next].time / rows.bucket_ns == span; ++next) {
        live = moments[next].live;
        most[span] = std::max(most[span], live);
        allocations[span] += moments[next].allocation ? 1 : 0;
      }
    }
    ASSERT_EQ(rows.live_bytes, most) << "seed " << seed;
    ASSERT_EQ(rows.allocations, allocations) << "seed " << seed;
    ASSERT_LE(most.size(), timeline_builder::most_rows);
    ASSERT_TRUE(rows.bucket_ns == 1 || most.size() > timeline_builder::most_rows / 2) << "seed " << seed;
  }
}

class ends final : public watcher {
 public:
  void allocated(std::uint32_t, const object&) override { ++allocations; }
  void freed(std::uint32_t, const object& o) override { ended.push_back(o.free_time); }
  void leaked(std::uint32_t, const object& o) override { ended.push_back(o.free_time); }

  int allocations = 0;
  std::vector<std::uint64_t> ended;
};

TEST(journal_pass, tells_all_watchers_of_every_object) {
  const test::temporary_file file("a 8 10 1 5\na 8 20 1 6\nf 10 1 7\n");
  ends first;
  ends second;
  journal_pass pass(journal::open(file.path()), {&first, &second});
  while (pass.advance()) {
  }
  for (const ends* log : {&first, &second}) {
    EXPECT_EQ(log->allocations, 2);
    EXPECT_EQ(log->ended, std::vector<std::uint64_t>({7, 0}));
  }
  EXPECT_EQ(pass.objects().counts().events, 3U);
  EXPECT_EQ(pass.source().progress(), 1);
  EXPECT_FALSE(pass.advance());
  EXPECT_EQ(first.allocations, 2) << "nothing is emitted twice";
}

TEST(journal_pass, a_journal_without_events_ends_at_once) {
  const test::temporary_file file("f 0 1 1\n");  // a free of null is none
  ends log;
  journal_pass pass(journal::open(file.path()), {&log});
  int pieces = 0;
  while (pass.advance()) ++pieces;
  EXPECT_LE(pieces, 1);
  EXPECT_EQ(pass.objects().counts().events, 0U);
}

TEST(journal_pass, many_leaked_objects_come_in_pieces) {
  std::string lines;
  const std::size_t objects = journal_pass::leaks_at_once + 1;
  for (std::size_t n = 1; n <= objects; ++n) {
    char line[64];
    std::snprintf(line, sizeof line, "a 8 %zx 1 %zu\n", n * 16, n);
    lines += line;
  }
  const test::temporary_file file(lines);
  ends log;
  journal_pass pass(journal::open(file.path()), {&log});
  std::size_t most = 0;
  std::size_t before = 0;
  while (pass.advance()) {
    most = std::max(most, log.ended.size() - before);
    before = log.ended.size();
  }
  EXPECT_EQ(log.ended.size(), objects);
  EXPECT_EQ(most, journal_pass::leaks_at_once);
}

TEST(journal_pass, ends_behind_the_number_of_events) {
  std::string lines;
  constexpr std::uint64_t of_the_journal = 300'000;  // several batches
  for (std::uint64_t n = 1; n <= of_the_journal; ++n) lines += "a 8 1000 1 " + std::to_string(n) + "\n";
  const test::temporary_file file(lines);
  for (const std::uint64_t events :
       {std::uint64_t{0}, std::uint64_t{1}, of_the_journal / 2 + 1, of_the_journal}) {
    ends log;
    journal_pass pass(journal::open(file.path()), {&log}, events);
    while (pass.advance()) {
    }
    EXPECT_EQ(pass.objects().counts().events, events);
    EXPECT_EQ(log.ended.size(), events);
    EXPECT_FALSE(pass.advance());
  }
}

TEST(journal_pass, a_journal_with_fewer_events_than_it_had_is_an_error) {
  const test::temporary_file file("a 8 10 1 5\na 8 20 1 6\n");
  ends log;
  journal_pass pass(journal::open(file.path()), {&log}, 3);
  const auto read_all = [&pass] {
    while (pass.advance()) {
    }
  };
  EXPECT_THROW(read_all(), journal::error);
}

TEST(journal_pass, errors_of_the_journal_come_out) {
  const test::temporary_file file("a 8 10 1 5\nnonsense\n");
  ends log;
  journal_pass pass(journal::open(file.path()), {&log});
  const auto read_all = [&pass] {
    while (pass.advance()) {
    }
  };
  EXPECT_THROW(read_all(), journal::error);
}

TEST(statistics_pass, counts_each_grouping_in_one_reading) {
  const test::temporary_file file("a 8 10 1 5\na 16 20 2 6\nf 10 2 7\n");
  statistics_pass pass(file.path(), {{.groups = {.of_context = {0}, .groups = 1}, .events = 3},
                                     {.groups = {.of_thread = {0, 1}, .groups = 2}, .events = 3}});
  EXPECT_FALSE(pass.complete());
  while (pass.advance()) {
  }
  EXPECT_TRUE(pass.complete());
  EXPECT_EQ(pass.progress(), 1);
  const group_figures& all = pass.result(0).figures()[0];
  EXPECT_EQ(all.allocations, 2U);
  EXPECT_EQ(all.never, 1U);
  EXPECT_EQ(all.one_by_one, 1U);
  ASSERT_EQ(pass.result(1).figures().size(), 2U);
  EXPECT_EQ(pass.result(1).figures()[0].bytes, 8U);
  EXPECT_EQ(pass.result(1).figures()[0].active_threads, 2U);
  EXPECT_EQ(pass.result(1).figures()[1].bytes, 16U);
  EXPECT_THROW((void)pass.result(2), std::out_of_range);
}

TEST(statistics_pass, a_complete_one_stays_as_it_is) {
  const test::temporary_file file("a 8 10 1 5\n");
  statistics_pass pass(file.path(),
                       {{.groups = {.of_context = {0}, .groups = 1}, .events = 1, .moments = 1}});
  while (pass.advance()) {
  }
  EXPECT_FALSE(pass.advance());
  EXPECT_EQ(pass.result(0).compactness_over_time().size(), 1U);
}

TEST(statistics_pass, what_a_recording_has_added_since_is_left_out) {
  const test::temporary_file file("a 8 10 1 5\na 16 20 2 6\nf 10 2 7\na 32 30 1 8\nf 20 1 9\n");
  statistics_pass pass(file.path(), {{.groups = {.of_context = {0}, .groups = 1}, .events = 3}});
  while (pass.advance()) {
  }
  EXPECT_EQ(pass.result(0).figures()[0].allocations, 2U);
  EXPECT_EQ(pass.result(0).figures()[0].never, 1U);
  EXPECT_EQ(pass.progress(), 1);
}

TEST(statistics_pass, a_journal_that_has_lost_events_is_an_error) {
  const test::temporary_file file("a 8 10 1 5\na 16 20 2 6\n");
  statistics_pass pass(file.path(), {{.groups = {.of_context = {0}, .groups = 1}, .events = 3}});
  const auto read_all = [&pass] {
    while (pass.advance()) {
    }
  };
  EXPECT_THROW(read_all(), journal::error);
  EXPECT_FALSE(pass.complete());
}

TEST(statistics_pass, a_missing_journal_is_an_error) {
  EXPECT_THROW(statistics_pass("/nonexistent/journal", {}), journal::error);
}

}  // namespace
}  // namespace mallard::profile
