// With --witness, allocations have the caller's registers and stack words behind them, in windows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <sstream>
#include <vector>

#include "journal/spool/ring_record.hpp"
#include "profile/owner_places.hpp"
#include "recorder/run_process.hpp"
#include "slow_tests.hpp"

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
  const recorded r = record({target("owners")}, {"--witness"});
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

TEST_F(snapshot, has_the_registers_and_the_stack_of_each_entry_points_caller) {
  for (const char* stacks : {"caller", "full"}) {
    const recorded r = record({target("known_registers")}, {"--witness", "--stack", stacks});
    const snapshots found = snapshots_of(r);
    std::size_t calls = 0;
    for (std::size_t i = 0; i < r.events.size(); ++i) {
      if (r.events[i].size != 7777) continue;
      ++calls;
      ASSERT_TRUE(found.contains(i)) << name_of(r.events[i].kind);
      const std::vector<std::uint64_t>& words = found.at(i);
      const std::vector<std::uint64_t> first(words.begin(), words.begin() + 8);
      EXPECT_EQ(first, (std::vector<std::uint64_t>{0x101, 0x102, 0x103, 0x104, 0x105, 0x106, 0x201, 0x202}))
          << name_of(r.events[i].kind);
    }
    EXPECT_EQ(calls, 15u);
  }
}

// Windows of 65,536 allocations: at the beginning, from 131,072 on, from 262,144 on ..., and in the end every
// 2,097,152. Short ones at each multiple of 131,072.
bool is_in_window(std::uint64_t number) {
  constexpr std::uint64_t window = 65'536;
  if (number % (2 * window) < 4096) return true;
  for (std::uint64_t begin = 0; begin <= number; begin += std::clamp(begin, 2 * window, 32 * window))
    if (number - begin < window) return true;
  return false;
}

// Whether each event has a snapshot.
std::vector<bool> have_snapshots(const recorded& r) {
  std::vector<bool> have(r.events.size());
  for (const journal::table& rows : r.snapshots)
    for (const std::uint64_t event : *rows.numbers(1)) have.at(event) = true;
  return have;
}

// Holds the snapshots of each thread against the windows; returns how many threads have some.
std::size_t expect_windows(const recorded& r) {
  std::map<std::uint32_t, std::uint64_t> allocations;  // of each thread
  std::map<std::uint32_t, std::uint64_t> seen;         // of these, those with a snapshot
  const std::vector<bool> have = have_snapshots(r);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < r.events.size(); ++i) {
    const journal::event& e = r.events[i];
    const bool allocates = is_allocation(e.kind) || is_reallocation(e.kind);
    wrong += have[i] != (allocates && is_in_window(allocations[e.thread])) ? 1 : 0;
    if (allocates) ++allocations[e.thread];
    if (have[i]) ++seen[e.thread];
  }
  EXPECT_EQ(wrong, 0u);
  return seen.size();
}

TEST_F(snapshot, is_behind_the_allocations_of_whole_windows) {
  EXPECT_EQ(expect_windows(record({target("owners"), slow_tests ? "4400000" : "800000"}, {"--witness"})), 2u);
}

TEST_F(snapshot, comes_no_more_often_where_threads_are_short_lived) {
  const recorded r = record({target("owners"), "131072", "16"}, {"--witness"});
  const std::vector<bool> have = have_snapshots(r);
  const auto found = std::count(have.begin(), have.end(), true);
  EXPECT_GE(found, 65'536);
  EXPECT_LE(found, 65'536 + 4096) << "and what the first thread has allocated itself";
}

TEST_F(snapshot, is_whole_in_the_smallest_ring) {
  const recorded r = record({target("owners"), "20000"}, {"--witness", "--buffer", "4k"});
  EXPECT_EQ(expect_windows(r), 2u);
  EXPECT_TRUE(r.complete);
}

TEST_F(snapshot, is_there_for_each_process) {
  record({target("forks"), "many", "3", "500"}, {"--witness"});
  std::size_t children = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder_ / "journal.d")) {
    const recorded child = read_journal(file.path());
    EXPECT_EQ(expect_windows(child), 1u);
    ++children;
  }
  EXPECT_EQ(children, 3u);
}

TEST_F(snapshot, is_left_out_with_its_event_where_room_is_short) {
  std::vector<std::string> command =
      record_command(folder_ / "journal", {target("owners"), "20000"}, {"--witness"});
  command.insert(command.begin(), {"prlimit", "--as=150000000"});
  result_ = run(command);
  EXPECT_EQ(result_.status, 0) << result_.err;
  const recorded r = read_journal(folder_ / "journal");
  EXPECT_TRUE(r.complete);
  EXPECT_GE(expect_windows(r), 1u);
}

TEST_F(snapshot, is_there_on_request_alone) { EXPECT_TRUE(record({target("owners")}, {}).snapshots.empty()); }

TEST_F(snapshot, is_there_by_the_options_older_name) {
  EXPECT_FALSE(record({target("owners")}, {"--snapshot"}).snapshots.empty());
}

// Sixty subsystems of the same containers: a call site has the blocks of all of them, and a word tells which.
TEST_F(snapshot, tells_the_instances_of_a_container_apart) {
  record({target("instances"), "60", "100"}, {"--witness"});
  const profile::owner_places all = profile::find_owner_places(folder_ / "journal");
  std::map<std::uint32_t, profile::owner_place> best;  // of each context with many blocks
  for (const profile::owner_place& one : all.found)
    if (one.blocks >= 2000) best.emplace(one.group, one);
  std::size_t explained = 0;
  for (const auto& [context, place] : best) {
    if (place.gain() < .05) continue;
    ++explained;
    EXPECT_EQ(place.distinct, 60u) << profile::name_of_place(place.place);
    EXPECT_GT(place.gain(), .5) << profile::name_of_place(place.place);
  }
  EXPECT_EQ(explained, 5u) << "a map's nodes and strings, a list's nodes, a hash table's nodes and strings";
}

}  // namespace
}  // namespace mallard::test
