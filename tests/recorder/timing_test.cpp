// How long calls took and what recording cost: one call in 64 is timed, the process's CPU time every second.
#include <gtest/gtest.h>

#include "recorder/run_process.hpp"

namespace mallard::test {
namespace {

class timing : public testing::Test {
 protected:
  recorded record(const std::vector<std::string>& command, const std::vector<std::string>& options = {}) {
    const run_result result = run(record_command(folder_ / "journal", command, options));
    EXPECT_EQ(result.status, 0) << result.err;
    return read_journal(folder_ / "journal");
  }

 private:
  scratch_folder folder_;
};

TEST_F(timing, one_call_in_64_says_how_long_it_took) {
  const recorded r = record({target("four_threads")});
  const std::uint64_t threads = r.tables.threads.size();
  std::map<event_kind, std::uint64_t> timed;
  std::uint64_t all_timed = 0;
  for (const journal::event& e : r.events) {
    timed[e.kind] += e.duration != 0;
    all_timed += e.duration != 0;
  }
  EXPECT_LE(all_timed, r.events.size() / 64 + threads);
  EXPECT_GE(all_timed, r.events.size() / 64 - threads);
  for (const auto& [kind, calls] : count_kinds(r)) {
    if (calls < 5000) continue;
    EXPECT_GT(timed[kind], calls / 128) << journal::name_of(kind);
    EXPECT_LT(timed[kind], calls / 32) << journal::name_of(kind);
  }
}

TEST_F(timing, the_cpu_time_and_what_recording_took_of_it_are_written_at_every_interval) {
  const recorded r =
      record({"perl", "-e", "use POSIX; while (clock() < 0.2e6) { @a = map { 'x' . $_ } 1..1000 }"},
             {"--usage-interval", "20"});
  const auto& usage = r.tables.usage;
  ASSERT_GE(usage.size(), 2u);
  for (std::size_t i = 1; i < usage.size(); ++i) {
    EXPECT_GT(usage[i].time, usage[i - 1].time);
    EXPECT_GE(usage[i].cpu_ns, usage[i - 1].cpu_ns);
    EXPECT_GE(usage[i].recording_ns, usage[i - 1].recording_ns);
    EXPECT_GE(usage[i].stalls, usage[i - 1].stalls);
    EXPECT_GE(usage[i].stalled_ns, usage[i - 1].stalled_ns);
  }
  for (const journal::usage_sample& row : usage) EXPECT_LE(row.recording_ns, row.cpu_ns);
  EXPECT_GT(usage.back().cpu_ns, usage.front().cpu_ns);
  EXPECT_GT(usage.back().recording_ns, usage.front().recording_ns);
  EXPECT_GE(usage.back().cpu_ns, 200'000'000u);
}

}  // namespace
}  // namespace mallard::test
