// The checked malloc under small bad programs (bad_program.cpp): each mistake is found, by its kind, and its
// stacks are named; and under good ones, where nothing is.
#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct ended {
  std::string said;
  int code = 0;  // a shell's: 128 and the number of a signal
};

// What a command of the shell prints, errors included, where the checked malloc is in force.
ended run(const std::string& command, const std::string& settings = "") {
  ended result;
  const std::string whole =
      "exec 2>&1; " + settings + " LD_PRELOAD=" MALLARD_CHECKED_MALLOC " " + command + "; exit $?";
  FILE* const pipe = ::popen(whole.c_str(), "r");
  std::array<char, 4096> piece{};
  while (const std::size_t n = std::fread(piece.data(), 1, piece.size(), pipe))
    result.said.append(piece.data(), n);
  const int status = ::pclose(pipe);
  result.code = WEXITSTATUS(status);
  return result;
}

ended run_case(const std::string& group, int number, const std::string& settings = "") {
  return run(MALLARD_BAD_PROGRAM " " + group + " " + std::to_string(number), settings);
}

bool has(const ended& result, const std::string& text) { return result.said.find(text) != std::string::npos; }

// How many mistakes a group has.
int mistakes(const std::string& group) {
  static const std::map<std::string, int> known = [] {
    std::map<std::string, int> found;
    std::istringstream lines(run(MALLARD_BAD_PROGRAM).said);
    std::string name;
    for (int count = 0; lines >> name >> count;) found[name] = count;
    return found;
  }();
  return known.at(group);
}

constexpr int exit_code_after_errors = 99;

// Every mistake is reported once, as one of its kind, with both stacks by name; the control is silent.
void expect_found(const std::string& group, const std::string& kind, int least,
                  const std::vector<std::string>& texts, const std::string& settings = "") {
  EXPECT_GE(mistakes(group), least);
  const ended control = run_case(group, 0, settings);
  EXPECT_EQ(control.code, 0) << group;
  EXPECT_EQ(control.said, "") << group;
  for (int i = 1; i <= mistakes(group); ++i) {
    const ended result = run_case(group, i, settings);
    SCOPED_TRACE(group + " " + std::to_string(i) + "\n" + result.said);
    EXPECT_EQ(result.code, exit_code_after_errors);
    EXPECT_EQ(result.said.find("mallard: " + kind), 0u);
    EXPECT_TRUE(has(result, "mallard: 1 error in bad_program: " + kind + " 1\n"));
    for (const std::string& text : texts) EXPECT_TRUE(has(result, text)) << text;
  }
}

TEST(Checked, DoubleFrees) {
  expect_found(
      "double-free", "double free", 15,
      {"    freed again by ", "    freed before:\n", "    allocated by ", "made_here", "misused_here"});
  EXPECT_TRUE(has(run_case("double-free", 1), "mallard: double free: 40 bytes at "));
  EXPECT_TRUE(has(run_case("double-free", 1), "freed_here"));
}

TEST(Checked, InvalidFrees) {
  expect_found("invalid-free", "invalid free", 20, {"    freed by ", "misused_here"});
  const ended inside = run_case("invalid-free", 2);
  for (const char* text :
       {"    the block near it: 40 bytes at ", " is at its byte 8\n", "made_here", "freed_here"})
    EXPECT_TRUE(has(inside, text)) << inside.said;
  const ended elsewhere = run_case("invalid-free", 13);
  EXPECT_TRUE(has(elsewhere, "    no block is near\n")) << elsewhere.said;
}

TEST(Checked, MismatchedFrees) {
  expect_found("mismatched-free", "mismatched free", 35,
               {"    freed by ", "    allocated by ", "made_here", "misused_here"});
  EXPECT_TRUE(has(run_case("mismatched-free", 1), "    allocated by malloc or the like, freed by delete\n"));
  EXPECT_TRUE(has(run_case("mismatched-free", 5), "    allocated by new[], freed by free\n"));
  EXPECT_TRUE(has(run_case("mismatched-free", 10), "    freed as 48 bytes\n"));
  EXPECT_TRUE(has(run_case("mismatched-free", 12), "    freed as aligned to 128\n"));
  const ended by_base = run_case("mismatched-free", mistakes("mismatched-free"));
  EXPECT_TRUE(has(by_base, "    freed as 8 bytes\n")) << by_base.said;
}

TEST(Checked, Overflows) {
  expect_found("overflow", "overflow", 20,
               {"    noticed ", " behind its end\n", "    allocated by ", "made_here", "misused_here"});
  EXPECT_TRUE(
      has(run_case("overflow", 6), " is 0 bytes behind its end\n    changed from there on: 1 byte\n"));
  EXPECT_TRUE(has(run_case("overflow", 6), "    noticed by free:\n"));
  EXPECT_TRUE(has(run_case("overflow", mistakes("overflow") - 1), "    noticed by realloc:\n"));
  EXPECT_TRUE(has(run_case("overflow", mistakes("overflow")), "    noticed when the program ended\n"));
}

TEST(Checked, Underflows) {
  expect_found("underflow", "underflow", 18,
               {"    noticed ", " in front of it\n", "    allocated by ", "made_here", "misused_here"});
  EXPECT_TRUE(has(run_case("underflow", 3), " is 1 byte in front of it\n"));
}

TEST(Checked, WritesAfterFree) {
  expect_found("write-after-free", "write after free", 10,
               {"    noticed ", "    freed before:\n", "    allocated by ", "made_here", "misused_here"});
  EXPECT_TRUE(has(run_case("write-after-free", 2), " is at its byte 20\n"));
  EXPECT_TRUE(has(run_case("write-after-free", 2), "freed_here"));
  EXPECT_TRUE(has(run_case("write-after-free", mistakes("write-after-free")), "    noticed by free:\n"));
}

TEST(Checked, Leaks) {
  expect_found("leak", "leak", 6, {"    allocated by ", "made_here", "misused_here"},
               "MALLARD_MALLOC_LEAKS=1");
  EXPECT_TRUE(has(run_case("leak", 2, "MALLARD_MALLOC_LEAKS=1"), "mallard: leak: 80 bytes in 5 blocks\n"));
  const ended unasked = run_case("leak", 1);
  EXPECT_EQ(unasked.code, 0);
  EXPECT_EQ(unasked.said, "");
}

// The program ends as it would have, by the signal.
TEST(Checked, PagesWithoutAccess) {
  const std::string every = "MALLARD_MALLOC_GUARD=1";
  EXPECT_EQ(run_case("fault", 0, every).said, "");
  for (int i = 1; i <= mistakes("fault"); ++i) {
    const ended result = run_case("fault", i, every);
    SCOPED_TRACE(result.said);
    EXPECT_EQ(result.code, 128 + SIGSEGV);
    for (const char* text : {"mallard: access ", "    accessed:\n", "    allocated by ", "made_here",
                             "misused_here", "1 error in"})
      EXPECT_TRUE(has(result, text)) << text;
  }
  EXPECT_TRUE(has(run_case("fault", 3, every), "mallard: access behind a block: 64 bytes at "));
  EXPECT_TRUE(has(run_case("fault", 5, every), "mallard: access after free: 64 bytes at "));
  EXPECT_TRUE(has(run_case("fault", 6, every), "mallard: access in front of a block: 4096 bytes at "));
}

// The other groups where every block is sampled.
TEST(Checked, MistakesWithSampledBlocks) {
  for (const char* group :
       {"double-free", "invalid-free", "mismatched-free", "overflow", "underflow", "write-after-free"}) {
    EXPECT_EQ(run_case(group, 0, "MALLARD_MALLOC_GUARD=1").said, "") << group;
    for (int i = 1; i <= mistakes(group); ++i)
      EXPECT_TRUE(has(run_case(group, i, "MALLARD_MALLOC_GUARD=1"), "1 error in bad_program: "))
          << group << i;
  }
}

TEST(Checked, AbortsAtTheFirstErrorIfAsked) {
  const ended result = run_case("double-free", 1, "MALLARD_MALLOC_ABORT=1");
  EXPECT_EQ(result.code, 128 + SIGABRT);
  EXPECT_TRUE(has(result, "mallard: double free: ")) << result.said;
}

TEST(Checked, TheExitCodeIsTheUsers) {
  EXPECT_EQ(run_case("double-free", 1, "MALLARD_MALLOC_EXIT_CODE=7").code, 7);
  EXPECT_EQ(run_case("double-free", 1, "MALLARD_MALLOC_EXIT_CODE=0").code, 0);
}

std::size_t count_of(const ended& result, const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = result.said.find(text, at)) != std::string::npos; ++at) ++count;
  return count;
}

// A loop of a thousand mistakes with one stack, and one with ten.
TEST(Checked, ALoopOfMistakesIsToldOnceAndCounted) {
  const ended one_place = run_case("loop", 1);
  EXPECT_TRUE(has(one_place, "mallard: 1000 errors in bad_program: double free 1000\n")) << one_place.said;
  EXPECT_EQ(one_place.said.find("mallard: double free"), one_place.said.rfind("mallard: double free"));
  const ended many = run_case("loop", 2, "MALLARD_MALLOC_REPORTS=3");
  EXPECT_EQ(count_of(many, "mallard: invalid free: "), 3u) << many.said;
  EXPECT_TRUE(has(many, "mallard: 3 reports: all others are only counted\n")) << many.said;
  EXPECT_TRUE(has(many, "invalid free 1000\n")) << many.said;
}

#if defined(MALLARD_PLAN_PROGRAM)
// A refused mapping, and no address left: null and ENOMEM, nothing that was allocated has changed, and
// nothing is reported.
TEST(Checked, MemoryThatRunsOutIsNullAndLeavesTheRestIntact) {
  for (const char* settings : {"", "MALLARD_MALLOC_GUARD=20"}) {
    for (const char* what : {"refused 1", "refused 2", "refused 3", "refused 7", "up_to_the_limit"}) {
      const ended result = run(std::string(MALLARD_PLAN_PROGRAM " ") + what, settings);
      EXPECT_EQ(result.said, "whole\n") << settings << what;
      EXPECT_EQ(result.code, 0) << settings << what;
    }
  }
}

#endif

// 512 stacks of one depth, which differ in one frame or more, inner or outer.
TEST(Checked, StacksThatDifferInOneCallAreToldApart) {
  for (const char* frames : {"16", "40"}) {
    const ended paths =
        run_case("loop", 3, std::string("MALLARD_MALLOC_REPORTS=1000 MALLARD_MALLOC_FRAMES=") + frames);
    EXPECT_EQ(count_of(paths, "mallard: invalid free: "), 512u) << frames;
    EXPECT_TRUE(has(paths, "invalid free 1024\n")) << frames;
  }
}

TEST(Checked, ThreadsForksAndLibrariesWork) {
  const ended threads = run_case("process", 0);
  EXPECT_EQ(threads.code, 0);
  EXPECT_EQ(threads.said, "");
}

TEST(Checked, EightThreadsForkOpenLibrariesAndMakeNoMistake) {
  const ended result = run(MALLARD_MALLOC_STRESS " --turns 5");
  EXPECT_EQ(result.code, 0) << result.said;
  EXPECT_EQ(result.said.find("mallard: "), std::string::npos) << result.said;
}

TEST(Checked, ALibraryThatLooksForOperatorsElsewhereMakesNoMistake) {
  const ended result = run_case("process", 2, "DEEP_LIBRARY=" MALLARD_DEEP_LIBRARY);
  EXPECT_EQ(result.code, 0) << result.said;
  EXPECT_EQ(result.said, "");
}

// What a parent has done before is no error of its child.
TEST(Checked, AChildsErrorsAreItsOwn) {
  const ended result = run_case("process", 1);
  EXPECT_EQ(result.code, exit_code_after_errors) << result.said;
  const std::string one = "mallard: 1 error in bad_program: double free 1\n";
  EXPECT_NE(result.said.find(one), result.said.rfind(one)) << result.said;
  EXPECT_FALSE(has(result, "2 errors")) << result.said;
}

// Their blocks are looked at when the process ends, and are no errors.
TEST(Checked, AProcessEndsWhileThreadsAllocate) {
  for (int i = 0; i != 20; ++i) {
    const ended result = run_case("end", 0, "MALLARD_MALLOC_QUARANTINE=1000000");
    ASSERT_EQ(result.code, 0) << result.said;
    ASSERT_EQ(result.said, "");
  }
}

TEST(Checked, LooksForLeaksWherePagesCannotBeRead) {
  const ended result = run_case("end", 1, "MALLARD_MALLOC_LEAKS=1");
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.said, "");
}

TEST(Checked, AProcessEndsWithErrorsWhileAThreadReadsAFile) {
  const ended result = run("timeout 20 " MALLARD_BAD_PROGRAM " end 2");
  EXPECT_EQ(result.code, exit_code_after_errors);
  EXPECT_TRUE(has(result, "double free 1\nwritten before\n")) << result.said;
}

// The holder of the loader's lock may wait for the lock of reports, so not the other way round.
TEST(Checked, LibrariesMayReportWhileTheyAreOpened) {
  for (int i = 0; i != 5; ++i) {
    const ended result =
        run("timeout 20 " MALLARD_BAD_PROGRAM " end 3",
            "MALLARD_MALLOC_REPORTS=1000 MALLARD_MALLOC_FRAMES=64 BAD_LIBRARY=" MALLARD_BAD_LIBRARY);
    ASSERT_EQ(result.code, exit_code_after_errors);
    EXPECT_TRUE(has(result, "reported_at_loading")) << result.said;
  }
}

}  // namespace
