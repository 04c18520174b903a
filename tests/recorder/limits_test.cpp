// A program that limits its address space, its files or its system calls runs as it does unrecorded, and its
// journal has all its events or says what it lacks.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>

#include "journal/spool/spool.hpp"
#include "recorder/run_process.hpp"

namespace mallard::test {
namespace {

constexpr std::uint64_t block_size = 4321;
constexpr std::uint64_t pairs = 50000;

class limits : public testing::Test {
 protected:
  run_result record(const std::vector<std::string>& how) {
    std::vector<std::string> command = {target("limits")};
    command.insert(command.end(), how.begin(), how.end());
    return run(record_command(journal_, command));
  }

  // Of mallard-record itself, and so of all it starts.
  run_result record_within(const std::string& limit, const std::vector<std::string>& command) {
    std::vector<std::string> whole = record_command(journal_, command);
    whole.insert(whole.begin(), {"prlimit", limit});
    return run(whole);
  }

  void expect_events(std::uint64_t mallocs) {
    const recorded r = read_journal(journal_);
    EXPECT_EQ(count_kinds(r, block_size)[event_kind::malloc], mallocs);
    EXPECT_EQ(count_contradictions(r), 0u);
    EXPECT_TRUE(r.complete);
    EXPECT_FALSE(r.about.facts.contains(journal::incomplete_fact));
    const auto has_no_stack = [](const journal::event& e) {
      return e.kind == event_kind::malloc && e.context == 0;
    };
    EXPECT_EQ(std::count_if(r.events.begin(), r.events.end(), has_no_stack), 0);
  }

  // Besides the summary there is one line, which holds `reason`; it stands in the journal too.
  void expect_shortfall(const run_result& result, const std::string& reason) {
    const recorded r = read_journal(journal_);
    EXPECT_FALSE(r.complete);
    const auto fact = r.about.facts.find(journal::incomplete_fact);
    ASSERT_NE(fact, r.about.facts.end());
    EXPECT_NE(fact->second.find(reason), std::string::npos) << fact->second;
    EXPECT_NE(result.err.find("mallard-record: " + fact->second + "\n"), std::string::npos) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 2) << result.err;
  }

  scratch_folder folder_;
  std::filesystem::path journal_ = folder_ / "journal";
};

struct limit_case {
  const char* name;
  std::vector<std::string> how;
  std::uint64_t mallocs;
};

class every_limit : public limits, public testing::WithParamInterface<limit_case> {};

TEST_P(every_limit, leaves_the_program_as_it_was_and_the_journal_whole) {
  const run_result result = record(GetParam().how);
  EXPECT_EQ(result.status, 3) << result.err;
  EXPECT_EQ(result.out, "done\n");
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  expect_events(GetParam().mallocs);
}

INSTANTIATE_TEST_SUITE_P(, every_limit,
                         testing::Values(limit_case{"memory", {"memory", "24"}, pairs},
                                         limit_case{"memory_with_a_thread", {"thread", "64"}, 2 * pairs},
                                         limit_case{"memory_used_up", {"room", "256"}, pairs},
                                         limit_case{"a_filter", {"filter"}, pairs},
                                         limit_case{"a_filter_for_two_threads", {"filter_thread"}, 2 * pairs},
                                         limit_case{"a_filter_with_errors", {"errors"}, pairs}),
                         [](const auto& one) { return std::string(one.param.name); });

TEST_F(limits, a_filter_that_hides_a_stack_leaves_the_events) {
  const run_result result = record({"filter_stack"});
  EXPECT_EQ(result.status, 3) << result.err;
  expect_shortfall(result, "/proc/self/maps did not say where it ends");
  EXPECT_EQ(count_kinds(read_journal(journal_), block_size)[event_kind::malloc], 2 * pairs);
}

TEST_F(limits, strict_mode_ends_the_recording_and_not_the_program) {
  const run_result result = record({"strict"});
  EXPECT_EQ(result.status, 3);
  expect_shortfall(result, "recording ends where the program limited its system calls");
  EXPECT_EQ(count_kinds(read_journal(journal_), block_size)[event_kind::malloc], pairs);
}

#if defined(__x86_64__)
TEST_F(limits, a_program_that_the_recorder_ends_by_a_call_is_told_so) {
  const run_result result = record({"unseen"});
  EXPECT_EQ(result.status, 128 + SIGSYS);
  expect_shortfall(result, "the recorder has ended the program: a seccomp filter forbids its system call ");
}

TEST_F(limits, a_program_that_the_recorder_ends_by_reading_the_clock_is_told_so) {
  const run_result result = record({"unseen_strict"});
  EXPECT_EQ(result.status, 128 + SIGSEGV);
  expect_shortfall(result, "the recorder has ended the program, which entered seccomp's strict mode");
}
#endif

TEST_F(limits, of_mallard_record_make_a_smaller_spool) {
  for (const char* limit : {"--as=1024000000", "--as=100000000", "--fsize=16777216", "--fsize=2000000"}) {
    const run_result result = record_within(limit, {target("limits"), "memory", "24"});
    EXPECT_EQ(result.status, 3) << limit << result.err;
    EXPECT_EQ(result.out, "done\n") << limit;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << limit << result.err;
    expect_events(pairs);
  }
}

TEST_F(limits, on_files_that_a_child_sets_itself_leave_it_recorded) {
  const run_result result =
      run(record_command(journal_, {"prlimit", "--fsize=4000000", target("limits"), "memory", "24"}));
  EXPECT_EQ(result.status, 3) << result.err;
  EXPECT_EQ(result.out, "done\n");
  const std::filesystem::path folder = journal_.string() + journal::children_suffix;
  ASSERT_TRUE(std::filesystem::exists(folder)) << result.err;
  journal_ = std::filesystem::directory_iterator(folder)->path();
  expect_events(pairs);
}

}  // namespace
}  // namespace mallard::test
