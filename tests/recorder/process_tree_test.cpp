// Whatever way a program has to start others, its user sees what he sees unrecorded, and each process has as
// many events as the counter sees calls.
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "recorder/counted_runs.hpp"

namespace mallard::test {
namespace {

void expect_same(const run_result& shown, const run_result& native) {
  EXPECT_EQ(shown.status, native.status);
  EXPECT_EQ(shown.out, native.out);
  EXPECT_EQ(shown.err, native.err);
}

void expect_identity(const std::vector<std::string>& command, const std::vector<std::string>& options = {}) {
  const counted_runs runs(command);
  expect_same(runs.recorded(options).shown, runs.natively());
  const call_counts taken = runs.recorded_and_counted(options);
  EXPECT_EQ(taken.by_recorder, taken.by_counter);
}

TEST(process_tree, forks_and_bare_clones_and_spawns_do) { expect_identity({target("forks"), "every_way"}); }

TEST(process_tree, that_is_recorded_in_part_is_found_to_differ) {
  const call_counts taken =
      counted_runs({target("forks"), "every_way"}).recorded_and_counted({"--no-children"});
  EXPECT_EQ(taken.by_recorder.size(), 1u);
  EXPECT_NE(taken.by_recorder, taken.by_counter);
}

TEST(process_tree, forks_among_the_allocations_of_other_threads_do) {
  expect_identity({target("forks"), "among_threads", "24"});
}

TEST(process_tree, the_compilers_driver_and_all_that_it_starts_do) {
  const scratch_folder folder;
  const std::string unit = folder / "unit.cpp";
  std::ofstream(unit) << "int main() {}\n";
  const call_counts taken = counted_runs({"g++", unit, "-o", folder / "program"}).recorded_and_counted();
  EXPECT_EQ(taken.by_recorder, taken.by_counter);
  std::set<std::string> names;
  for (const counted_program& one : taken.by_recorder) names.insert(one.name);
  for (const char* part : {"cc1plus", "collect2"}) EXPECT_TRUE(names.contains(part)) << part;
  EXPECT_GE(names.size(), 5u);  // and the driver, the assembler and the linker, whatever their full names
}

TEST(process_tree, forks_do_with_the_smallest_rings) {
  expect_identity({target("forks"), "among_threads", "10"}, {"--buffer", "4096"});
}

// How the target `starts` starts its program.
class process_tree_by : public testing::TestWithParam<const char*> {};

TEST_P(process_tree_by, is_recorded_with_both_programs) {
  expect_identity({target("starts"), GetParam(), target("every_operator")});
}

TEST_P(process_tree_by, passes_on_how_the_other_program_ends) {
  for (const char* end : {"_exit", "abort", "segv", "kill"})
    expect_identity({target("starts"), GetParam(), target("blocks"), "pairs", "50", end});
}

INSTANTIATE_TEST_SUITE_P(, process_tree_by,
                         testing::Values("vfork", "spawn", "spawnp", "system", "popen", "exec", "execvpe",
                                         "execveat", "number_of_execve", "number_of_execveat",
                                         "failing_exec"),
                         [](const auto& one) { return std::string(one.param); });

TEST(process_tree, chains_of_exec_have_a_journal_a_link) {
  expect_identity({target("starts"), "execs", "4", target("blocks"), "pairs", "50", "return"});
}

TEST(process_tree, programs_without_an_environment_are_recorded_though_the_counter_misses_them) {
  const counted_runs runs({target("starts"), "bare", target("blocks"), "pairs", "50", "return"});
  expect_same(runs.recorded().shown, runs.natively());
  const call_counts taken = runs.recorded_and_counted();
  ASSERT_EQ(taken.by_recorder.size(), 2u);
  EXPECT_EQ(taken.by_recorder.front().name, "blocks");
  EXPECT_EQ(taken.by_counter, std::vector{taken.by_recorder.back()});
}

TEST(process_tree, shells_and_their_pipes_are_followed) {
  expect_identity(
      {"sh", "-c", "echo a b c | tr ' ' '\\n' | sort -r; (exit 3) || echo $?; exec sort /etc/passwd"});
}

}  // namespace
}  // namespace mallard::test
