// Stacks that are recorded of real programs are what libunwind finds at the same calls.
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "recorder/run_process.hpp"

namespace mallard::test {
namespace {

struct comparison {
  std::uint64_t compared = 0;
  std::uint64_t equal = 0;
  std::size_t processes = 0;  // that ran with that library, to their end
  std::string differences;

  [[nodiscard]] bool is_right() const {
    return static_cast<double>(equal) >= 0.995 * static_cast<double>(compared);
  }
};

// Records `command` and its children by the library that holds stacks against libunwind. `variables` are
// added to their environment.
comparison check(const std::vector<std::string>& command, const std::vector<std::string>& variables = {}) {
  const scratch_folder folder;
  const std::string counts = folder / "counts";
  std::vector<std::string> recording = {"env", "MALLARD_STACK_CHECK=" + counts,
                                        "MALLARD_RECORD_LIBRARY=" + target("libmallard-record-checked.so")};
  recording.insert(recording.end(), variables.begin(), variables.end());
  for (const std::string& word : record_command(folder / "journal", command)) recording.push_back(word);
  EXPECT_EQ(run(recording).status, 0);
  comparison whole;
  std::ifstream file(counts);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string process;
    std::string what;
    std::uint64_t compared = 0;
    std::uint64_t equal = 0;
    words >> process >> what >> compared >> what >> equal;
    if (what == "equal") {
      whole.compared += compared;
      whole.equal += equal;
      ++whole.processes;
    } else {
      whole.differences += line + "\n";
    }
  }
  return whole;
}

void expect_right(const comparison& result) {
  EXPECT_GE(result.compared, 100u);
  EXPECT_TRUE(result.is_right()) << result.equal << " of " << result.compared << "\n" << result.differences;
  std::cout << result.equal << " of " << result.compared << " stacks are equal\n";
}

const std::vector<std::string> grouping_jq = {
    "jq", "-n", "[range(20000) | {a: ., b: (. * 2 | tostring)}] | group_by(.a % 7) | length"};

TEST(stacks, of_jq_are_right) { expect_right(check(grouping_jq)); }

TEST(stacks, that_lack_a_frame_are_found_to_be_wrong) {
  const comparison result = check(grouping_jq, {"MALLARD_STACK_CHECK_DROP=1"});
  EXPECT_GE(result.compared, 100u);
  EXPECT_FALSE(result.is_right()) << result.equal << " of " << result.compared;
  EXPECT_NE(result.differences, "");
}

TEST(stacks, of_xmllint_are_right) {
  const scratch_folder folder;
  std::ofstream xml(folder / "input.xml");
  xml << "<list>";
  for (int i = 0; i < 20000; ++i) xml << "<item id='" << i << "'><name>n" << i << "</name></item>";
  xml << "</list>";
  xml.close();
  expect_right(check({"xmllint", "--xpath", "count(//item[name])", folder / "input.xml"}));
}

TEST(stacks, of_perl_are_right) {
  expect_right(check({"perl", "-e",
                      "sub f { my ($n) = @_; return $n < 2 ? {n => $n} : {l => f($n - 1), r => f($n - 2)} }"
                      "for (1 .. 20) { my $t = f(17); my @a = sort map { $_ . 'x' } keys %$t; }"}));
}

TEST(stacks, of_the_compiler_and_what_it_starts_are_right) {
  const scratch_folder folder;
  std::ofstream(folder / "unit.cpp") << "#include <map>\n#include <string>\n#include <vector>\n"
                                        "std::map<std::string, std::vector<int>> m;\n"
                                        "void f() { m[\"x\"].push_back(1); }\n";
  const comparison result = check({"g++", "-O1", "-c", folder / "unit.cpp", "-o", folder / "unit.o"});
  expect_right(result);
  EXPECT_EQ(result.processes, 3u) << "the driver, the compiler proper and the assembler";
}

TEST(stacks, of_four_threads_are_right) { expect_right(check({target("deep_threads")})); }

TEST(stacks, of_a_deep_recursion_are_right) { expect_right(check({target("deep_threads"), "1500"})); }

TEST(stacks, of_a_recursion_that_is_too_deep_are_right_as_far_as_they_go) {
  expect_right(check({target("deep_threads"), "20000"}));
}

TEST(stacks, of_a_program_with_holes_between_its_segments_are_right) {
  expect_right(check({target("deep_threads_with_holes")}));
}

}  // namespace
}  // namespace mallard::test
