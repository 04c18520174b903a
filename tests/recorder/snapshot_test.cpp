// With --snapshot, events have the caller's registers and stack words behind them, in bursts.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <sstream>
#include <vector>

#include "journal/spool/ring_record.hpp"
#include "recorder/run_process.hpp"

namespace mallard::test {
namespace {

using snapshots = std::map<std::uint64_t, std::vector<std::uint64_t>>;

// By the event's number: six registers, then the words of the stack.
snapshots snapshots_of(const recorded& r) {
  snapshots found;
  for (const journal::table& rows : r.snapshots) {
    for (std::size_t row = 0; row < rows.rows; ++row) {
      std::vector<std::uint64_t> words;
      for (std::uint16_t id = 2; id <= journal::snapshot_words; ++id) {
        const auto* column = rows.numbers(id);
        words.push_back(column != nullptr ? (*column)[row] : 0);
      }
      const auto* events = rows.numbers(1);
      found[events != nullptr ? (*events)[row] : 0] = words;
    }
  }
  return found;
}

class snapshot : public testing::Test {
 protected:
  recorded record(const std::vector<std::string>& command, const std::vector<std::string>& options) {
    result_ = run(record_command(folder_ / "journal", command, options));
    EXPECT_EQ(result_.status, 0) << result_.err;
    return read_journal(folder_ / "journal");
  }

  scratch_folder folder_;
  run_result result_;
};

TEST_F(snapshot, shows_the_owner_of_each_block) {
  const recorded r = record({target("owners")}, {"--snapshot"});
  const snapshots found = snapshots_of(r);
  std::map<std::uint64_t, std::uint64_t> owners;  // by size
  std::istringstream account(result_.out);
  for (std::uint64_t size = 0, owner = 0; account >> size >> owner;) owners[size] = owner;
  ASSERT_EQ(owners.size(), 20u);

  std::map<std::size_t, int> places;  // at how many events each place held the owner
  for (std::size_t i = 0; i < r.events.size(); ++i) {
    const auto owner = owners.find(r.events[i].size);
    if (owner == owners.end()) continue;
    ASSERT_TRUE(found.contains(i)) << "event " << i;
    const std::vector<std::uint64_t>& words = found.at(i);
    for (std::size_t place = 0; place < words.size(); ++place) places[place] += words[place] == owner->second;
  }
  int best = 0;
  for (const auto& [place, events] : places) best = std::max(best, events);
  EXPECT_EQ(best, 20);
}

TEST_F(snapshot, has_the_registers_and_the_stack_of_the_call_itself) {
  for (const char* stacks : {"none", "caller", "full"}) {
    const recorded r = record({target("known_registers")}, {"--snapshot", "--stack", stacks});
    const snapshots found = snapshots_of(r);
    ASSERT_EQ(r.events.size(), 1u);
    ASSERT_EQ(found.size(), 1u);
    const std::vector<std::uint64_t>& words = found.begin()->second;
    const std::vector<std::uint64_t> first(words.begin(), words.begin() + 8);
    EXPECT_EQ(first, (std::vector<std::uint64_t>{0x101, 0x102, 0x103, 0x104, 0x105, 0x106, 0x201, 0x202}));
  }
}

TEST_F(snapshot, is_behind_allocations_alone_and_begins_every_burst_anew) {
  const recorded r = record({target("owners"), "200000"}, {"--snapshot"});
  const snapshots found = snapshots_of(r);
  std::map<std::uint32_t, std::size_t> of_thread;
  for (const auto& [number, words] : found) {
    ASSERT_LT(number, r.events.size());
    const journal::event& e = r.events[number];
    EXPECT_TRUE(is_allocation(e.kind));
    ++of_thread[e.thread];
  }
  ASSERT_EQ(of_thread.size(), 2u);
  for (const auto& [thread, count] : of_thread) EXPECT_EQ(count, 2u * 4096);  // 100 000 allocations each
}

TEST_F(snapshot, is_there_on_request_alone) { EXPECT_TRUE(record({target("owners")}, {}).snapshots.empty()); }

TEST_F(snapshot, is_there_by_the_options_older_name) {
  EXPECT_FALSE(record({target("owners")}, {"--witness"}).snapshots.empty());
}

}  // namespace
}  // namespace mallard::test
