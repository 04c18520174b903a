// The region events of a journal are those that the program counted, region by region.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "recorder/run_process.hpp"

namespace mallard::test {
namespace {

using region_counts = std::map<std::pair<std::uint64_t, std::string>, std::uint64_t>;

// The program's own account: "region kind count" a line.
region_counts parse_account(const std::string& text) {
  region_counts account;
  std::istringstream words(text);
  std::uint64_t region = 0;
  std::uint64_t count = 0;
  std::string kind;
  while (words >> region >> kind >> count)
    if (count != 0) account[{region, kind}] += count;
  return account;
}

// Of the regions that the account knows; a library may have others of its own.
region_counts count_regions(const recorded& r, const region_counts& account) {
  std::set<std::uint64_t> known;
  for (const auto& [region_and_kind, count] : account) known.insert(region_and_kind.first);
  region_counts counts;
  for (const journal::event& e : r.events)
    if (is_region(e.kind) && known.contains(e.region)) ++counts[{e.region, std::string(name_of(e.kind))}];
  return counts;
}

std::uint64_t count_region_events(const recorded& r) {
  return static_cast<std::uint64_t>(std::count_if(r.events.begin(), r.events.end(),
                                                  [](const journal::event& e) { return is_region(e.kind); }));
}

std::uint64_t sum(const region_counts& counts) {
  std::uint64_t all = 0;
  for (const auto& [region_and_kind, count] : counts) all += count;
  return all;
}

class regions : public testing::Test {
 protected:
  recorded record(const std::vector<std::string>& command, const std::vector<std::string>& options = {}) {
    result_ = run(record_command(folder_ / "journal", command, options));
    EXPECT_EQ(result_.status, 0) << result_.err;
    return read_journal(folder_ / "journal");
  }

  // Returns how many events there are of other regions.
  std::uint64_t expect_as_counted(const std::vector<std::string>& command) {
    const run_result alone = run(command);
    EXPECT_EQ(alone.status, 0) << alone.err;
    const recorded r = record(command);
    const region_counts account = parse_account(result_.out);
    EXPECT_FALSE(account.empty());
    EXPECT_EQ(count_regions(r, account), account);
    return count_region_events(r) - sum(account);
  }

  scratch_folder folder_;
  run_result result_;
};

TEST_F(regions, annotated_ones_are_recorded_as_the_program_counts_them) {
  EXPECT_EQ(expect_as_counted({target("annotated")}), 0u);
}

TEST_F(regions, can_be_annotated_in_every_kind_of_program) {
  EXPECT_EQ(expect_as_counted({target("annotated_at_fixed_place")}), 0u);
  EXPECT_EQ(expect_as_counted({target("annotated_parts")}), 0u);
  EXPECT_EQ(run({target("annotated_static")}).status, 0);
}

TEST_F(regions, apr_pools_are_recorded_as_the_program_counts_them) {
  EXPECT_GT(expect_as_counted({target("use_apr_pools")}), 0u);  // APR has a pool for itself
}

TEST_F(regions, talloc_chunks_are_recorded_as_the_program_counts_them) {
  EXPECT_EQ(expect_as_counted({target("use_talloc_chunks")}), 0u);
}

TEST_F(regions, obstacks_are_recorded_as_the_program_counts_them) {
  EXPECT_EQ(expect_as_counted({target("use_obstacks")}), 0u);
}

TEST_F(regions, of_a_library_that_only_a_plug_in_sees_are_recorded) {
  // Ten chunks inside, which die with it, in each of two rounds.
  EXPECT_EQ(expect_as_counted({target("load"), "regions", target("libregion_plugin.so")}), 2u * 10 * 2);
}

// What libraries made of their regions, others can serve: moved chunks, inner pools, what never ends.
TEST_F(regions, can_be_replayed_as_recorded) {
  for (const char* const program : {"use_apr_pools", "use_talloc_chunks", "use_obstacks"}) {
    (void)record({target(program)});
    const run_result checked =
        run({MALLARD_REPLAY, "--regions", "--check-only", "--json", (folder_ / "journal").string()});
    EXPECT_EQ(checked.status, 0) << program << ": " << checked.err;
    EXPECT_NE(checked.out.find("\"replayed\": \"regions\""), std::string::npos) << program;
    EXPECT_EQ(checked.out.find("\"failed\""), std::string::npos) << program << ": " << checked.out;
  }
}

TEST_F(regions, that_lack_one_event_are_found_to_differ) {
  recorded r = record({target("annotated")});
  const region_counts account = parse_account(result_.out);
  ASSERT_EQ(count_regions(r, account), account);
  r.events.erase(std::find_if(r.events.begin(), r.events.end(),
                              [](const journal::event& e) { return is_region(e.kind); }));
  EXPECT_NE(count_regions(r, account), account);
}

TEST_F(regions, annotations_say_what_and_where) {
  const recorded r = record({target("annotated")});
  std::vector<journal::event> made;
  std::uint64_t bytes = 0;
  for (const journal::event& e : r.events) {
    if (!is_region(e.kind)) continue;
    if (e.kind == event_kind::region_create) made.push_back(e);
    bytes += e.size;
    EXPECT_EQ(e.address != 0, e.kind == event_kind::region_allocate || e.kind == event_kind::region_free);
    EXPECT_NE(e.context, 0u);
    EXPECT_EQ(e.duration, 0u);
  }
  ASSERT_EQ(made.size(), 3u);
  EXPECT_EQ(made[0].parent, 0u);
  EXPECT_EQ(made[1].parent, 0u);
  EXPECT_EQ(made[2].parent, made[1].region);
  EXPECT_EQ(bytes, 100 * 16 + 3 * 5'000'000'000u);
}

TEST_F(regions, a_program_without_any_has_no_such_event) {
  EXPECT_EQ(count_region_events(record({target("every_entry_point")})), 0u);
}

}  // namespace
}  // namespace mallard::test
