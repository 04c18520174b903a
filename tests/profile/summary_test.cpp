#include "profile/summary.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "journal/binary/sample_journal.hpp"
#include "journal/events/event_source.hpp"
#include "scratch_folder.hpp"

namespace mallard::profile {
namespace {

using namespace journal;

// The figures that stand beside the fixtures.
TEST(summary, of_the_fixtures) {
  const std::filesystem::path fixtures = MALLARD_FIXTURES;
  const summary sqlite = summarize(fixtures / "sqlite3.txt.xz");
  EXPECT_EQ(sqlite.events, 192'935U + 192'919U);
  EXPECT_EQ(sqlite.events_by_kind,
            (std::map<std::string, std::uint64_t>{{"allocate", 192'935}, {"deallocate", 192'919}}));
  EXPECT_EQ(sqlite.threads, 1U);
  EXPECT_EQ(sqlite.peak_live_objects, 847U);
  EXPECT_NEAR(static_cast<double>(sqlite.peak_live_bytes), 4.55e6, 5e3);
  EXPECT_TRUE(sqlite.complete);
  const summary cc1plus = summarize(fixtures / "cc1plus.txt.xz");
  EXPECT_EQ(cc1plus.peak_live_objects, 13'145U);
  EXPECT_NEAR(static_cast<double>(cc1plus.peak_live_bytes), 3.71e6, 5e3);
}

TEST(summary, counts_what_is_alive_through_reallocations) {
  const test::temporary_file file;
  writer out(file.path());
  out.describe({.ticks_per_second = 100});
  out.append({.kind = event_kind::malloc, .time = 10, .address = 0x10, .size = 100});
  out.append({.kind = event_kind::realloc, .time = 20, .address = 0x20, .size = 300, .old_address = 0x10});
  out.append({.kind = event_kind::realloc, .time = 30, .size = 999, .old_address = 0x20});  // failed
  out.append({.kind = event_kind::malloc, .time = 40, .address = 0x30, .size = 50});
  out.append({.kind = event_kind::free, .time = 50, .address = 0x20});
  out.append({.kind = event_kind::free, .time = 60, .address = 0x99});  // from before the recording
  out.append({.kind = event_kind::malloc, .time = 50, .address = 0x40, .size = 1});
  out.finish();
  const summary s = summarize(file.path());
  EXPECT_EQ(s.bytes, 100U + 300 + 50 + 1);
  EXPECT_EQ(s.peak_live_bytes, 350U);
  EXPECT_EQ(s.peak_live_objects, 2U);
  EXPECT_EQ(s.unmatched_frees, 1U);
  EXPECT_DOUBLE_EQ(s.duration, 0.6);
}

// The columns of the seed's Table 3.
TEST(summary, counts_objects_and_what_their_calls_took) {
  const test::temporary_file file;
  writer out(file.path());
  out.describe({.ticks_per_second = 1e9});
  for (std::uint64_t i = 1; i <= 64; ++i)  // the first is the one that sets up the heap
    out.append({.kind = event_kind::malloc,
                .address = i * 0x100,
                .size = 10,
                .duration = i == 1 ? 1'000'000u : 40u});
  for (std::uint64_t i = 1; i <= 64; ++i)
    out.append({.kind = event_kind::free, .address = i * 0x100, .duration = i % 16 == 0 ? 25u : 0u});
  out.append({.kind = event_kind::realloc, .address = 0x100, .size = 160});
  out.append({.kind = event_kind::malloc});  // failed
  out.add_usage({.time = 1, .cpu_ns = 3'000'000, .recording_ns = 500'000});
  out.finish();

  const summary s = summarize(file.path());
  EXPECT_EQ(s.objects, 65U);
  EXPECT_DOUBLE_EQ(s.memory_ns, 1'000'000 + 65 * 40 + 64 * 25);
  const auto json = nlohmann::json::parse(to_json(s));
  EXPECT_EQ(json["objects"], 65);
  EXPECT_DOUBLE_EQ(json["mean_object_bytes"], 800.0 / 65);
  EXPECT_DOUBLE_EQ(json["bytes_over_peak"], 800.0 / 640);
  EXPECT_DOUBLE_EQ(json["memory_share"], s.memory_ns / 2'500'000);

  const test::temporary_file empty;
  writer(empty.path()).finish();
  const auto nothing = nlohmann::json::parse(to_json(summarize(empty.path())));
  for (const char* unknown : {"mean_object_bytes", "bytes_over_peak", "memory_ns", "memory_share"})
    EXPECT_TRUE(nothing[unknown].is_null()) << unknown;
}

TEST(summary, knows_how_deep_stacks_are_and_how_long_calls_took) {
  const test::temporary_file file;
  writer out(file.path());
  out.describe({.ticks_per_second = 2e9});
  std::uint32_t stack[4] = {};
  for (std::uint32_t i = 1; i < 4; ++i) stack[i] = out.intern_context(stack[i - 1], 0x100 * i);
  const std::uint32_t inside = out.intern_scope(stack[3], out.intern_name("parser"));
  for (const std::uint32_t context : {stack[1], stack[2], inside, stack[3], stack[3], 0u})
    out.append({.kind = event_kind::malloc, .context = context, .address = 16, .size = 1, .duration = 40});
  out.append({.kind = event_kind::malloc, .address = 16, .size = 1, .duration = 9000});
  out.append({.kind = event_kind::free, .context = stack[1], .address = 16, .duration = 10});
  out.append({.kind = event_kind::free, .context = stack[1], .address = 16});
  out.finish();
  const summary s = summarize(file.path());
  EXPECT_EQ(s.stack_depth_median, 3U);  // of 1, 2, 3, 3 and 3
  EXPECT_EQ(s.events_timed, 8U);
  EXPECT_EQ(s.median_ns_by_kind, (std::map<std::string, double>{{"malloc", 20}, {"free", 5}}));
}

TEST(summary, as_json) {
  const test::temporary_file file;
  write_sample(file.path());
  const auto all = nlohmann::json::parse(to_json(summarize(file.path())));
  EXPECT_EQ(all["program"], "/usr/bin/true");
  EXPECT_EQ(all["arguments"].size(), 3U);
  EXPECT_EQ(all["events"], sample_events().size());
  EXPECT_EQ(all["events_by_kind"]["malloc"], 1);
  EXPECT_EQ(all["events_by_kind"]["region_create"], 1);
  EXPECT_EQ(all["threads"], 2);
  EXPECT_EQ(all["contexts"], 3);
  EXPECT_EQ(all["recording_ns"], 60);
  EXPECT_EQ(all["stalls"], 1);
  EXPECT_EQ(all["children"].size(), 1u);
  EXPECT_EQ(all["children"][0]["process"], 4400);
  EXPECT_EQ(all["unrecorded"][0]["program"], "./fixed");
  EXPECT_EQ(all["unrecorded"][0]["processes"], 3);
  EXPECT_EQ(all["modules"][0]["build_id"], "0a1b");
  EXPECT_EQ(all["complete"], true);
  EXPECT_EQ(all["warnings"].size(), 0U);
}

TEST(summary, arguments_that_are_not_utf8_do_not_break_it) {
  const test::temporary_file file;
  writer out(file.path());
  out.describe({.program = "\xff\xfe", .arguments = {"caf\xe9"}});
  out.finish();
  const auto all = nlohmann::json::parse(to_json(summarize(file.path())));
  EXPECT_EQ(all["arguments"][0], "caf\xef\xbf\xbd");
  EXPECT_TRUE(all["recording_ns"].is_null()) << "nobody has estimated it";
}

TEST(summary, a_cut_journal_is_not_complete) {
  const test::temporary_file file;
  write_sample(file.path());
  file.write(file.read().substr(0, file.read().size() - 3));
  const summary s = summarize(file.path());
  EXPECT_FALSE(s.complete);
  EXPECT_FALSE(s.warnings.empty());
}

std::uint64_t median_of(std::initializer_list<std::uint64_t> numbers) {
  median_counts counts;
  for (const std::uint64_t n : numbers) counts.add(n);
  return counts.median();
}

TEST(median_counts, finds_the_middle_one) {
  EXPECT_EQ(median_of({}), 0u);
  EXPECT_EQ(median_of({7}), 7u);
  EXPECT_EQ(median_of({9, 1, 5}), 5u);
  EXPECT_EQ(median_of({1, 2, 3, 4}), 2u);
  EXPECT_EQ(median_of({4095, 4095, 1, 9000, 10000}), 4095u);
}

TEST(median_counts, large_numbers_are_nearly_exact) {
  for (const std::uint64_t n : {std::uint64_t{5001}, std::uint64_t{123456789}, UINT64_MAX}) {
    EXPECT_LE(median_of({n}), n);
    EXPECT_LE(n - median_of({n}), n / 2048);
  }
}

}  // namespace

}  // namespace mallard::profile
