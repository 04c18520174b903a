// Threads: exact counts, the order of each kept, and rings that go from thread to thread.
#include <gtest/gtest.h>

#include <unordered_map>

#include "recorder/run_process.hpp"

namespace mallard::test {
namespace {

recorded record_threads(long waves, long threads, long pairs, const std::vector<std::string>& options = {}) {
  const scratch_folder folder;
  const auto journal = folder / "journal";
  const run_result result = run(record_command(
      journal,
      {target("blocks"), "threads", std::to_string(waves), std::to_string(threads), std::to_string(pairs)},
      options));
  EXPECT_EQ(result.status, 0) << result.err;
  return read_journal(journal);
}

// What `blocks threads` does, beyond what libc allocates for its threads.
void expect_exact_counts(const recorded& r, std::uint64_t threads, std::uint64_t pairs) {
  EXPECT_EQ(count_kinds(r, 1111)[event_kind::malloc], threads);
  EXPECT_EQ(count_kinds(r, 2222)[event_kind::malloc], threads);
  std::uint64_t allocated = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> live;  // address to size
  std::map<std::uint64_t, std::uint64_t> freed_by_size;
  for (const journal::event& e : r.events) {
    if (is_allocation(e.kind)) {
      allocated += e.size >= 3000 && e.size < 3100;
      live[e.address] = e.size;
    } else if (is_free(e.kind)) {
      ++freed_by_size[live[e.address]];
    }
  }
  EXPECT_EQ(allocated, threads * pairs);
  EXPECT_EQ(freed_by_size[1111], threads);
  EXPECT_EQ(freed_by_size[2222], threads);
  std::uint64_t freed = 0;
  for (std::uint64_t size = 3000; size < 3100; ++size) freed += freed_by_size[size];
  EXPECT_EQ(freed, threads * pairs);
}

void expect_order(const recorded& r) {
  EXPECT_EQ(count_contradictions(r), 0u);
  std::uint64_t time = 0;
  for (const journal::event& e : r.events) {
    EXPECT_LE(time, e.time);
    time = e.time;
  }
}

TEST(threads, four_at_once_are_recorded_exactly_and_in_order) {
  const recorded r = record_threads(1, 4, 25000);
  expect_exact_counts(r, 4, 25000);
  expect_order(r);
  EXPECT_EQ(r.tables.threads.size(), 5u);
  // Sizes of a thread's pairs count upwards: its own order is kept.
  std::map<std::uint32_t, std::uint64_t> next;
  for (const journal::event& e : r.events) {
    if (e.kind != event_kind::malloc || e.size < 3000 || e.size >= 3100) continue;
    ASSERT_EQ(e.size, 3000 + next[e.thread]++ % 100);
  }
}

TEST(threads, two_hundred_at_once_each_have_their_events) {
  const recorded r = record_threads(1, 200, 500);
  expect_exact_counts(r, 200, 500);
  expect_order(r);
  std::map<std::uint32_t, std::uint64_t> pairs;
  for (const journal::event& e : r.events)
    if (e.kind == event_kind::malloc && e.size >= 3000 && e.size < 3100) ++pairs[e.thread];
  EXPECT_EQ(pairs.size(), 200u);
  for (const auto& [thread, count] : pairs) EXPECT_EQ(count, 500u);
}

TEST(threads, ten_thousand_short_lives_give_their_rings_back) {
  const recorded r = record_threads(2500, 4, 3, {"--buffer", "4096"});
  expect_exact_counts(r, 10000, 3);
  expect_order(r);
  ASSERT_EQ(r.tables.threads.size(), 10001u);
  for (std::size_t i = 1; i < r.tables.threads.size(); ++i) {
    const journal::thread_info& thread = r.tables.threads[i];
    EXPECT_GE(thread.end_time, thread.start_time);
    EXPECT_NE(thread.end_time, 0u);
    EXPECT_NE(thread.system_id, r.about.process);
  }
}

TEST(threads, more_than_there_are_rings_share_one) {
  const recorded r = record_threads(1, 1500, 40);
  expect_exact_counts(r, 1500, 40);
  expect_order(r);
}

}  // namespace
}  // namespace mallard::test
