// Recorded stacks are what an independent unwinder finds, and a changed stack is never taken for another.
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "recorder/run.hpp"

namespace mallard::test {
namespace {

struct comparison {
  std::uint64_t compared = 0;
  std::uint64_t equal = 0;
  std::string differences;
};

// Records `command` by the library that holds stacks against libunwind.
comparison check(const std::vector<std::string>& command) {
  const scratch_folder folder;
  const std::string counts = folder / "counts";
  std::vector<std::string> recording = {"env", "MALLARD_STACK_CHECK=" + counts,
                                        "MALLARD_RECORD_LIBRARY=" + target("libmallard-record-checked.so")};
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
    } else {
      whole.differences += line + "\n";
    }
  }
  return whole;
}

void expect_right_stacks(const std::vector<std::string>& command, std::uint64_t at_least) {
  const comparison result = check(command);
  EXPECT_GE(result.compared, at_least);
  EXPECT_GE(static_cast<double>(result.equal), 0.995 * static_cast<double>(result.compared))
      << result.equal << " of " << result.compared << "\n"
      << result.differences;
  std::cout << result.equal << " of " << result.compared << " stacks are equal\n";
}

TEST(stacks, of_jq_are_right) {
  expect_right_stacks(
      {"jq", "-n", "[range(20000) | {a: ., b: (. * 2 | tostring)}] | group_by(.a % 7) | length"}, 100);
}

TEST(stacks, of_xmllint_are_right) {
  const scratch_folder folder;
  std::ofstream xml(folder / "input.xml");
  xml << "<list>";
  for (int i = 0; i < 20000; ++i) xml << "<item id='" << i << "'><name>n" << i << "</name></item>";
  xml << "</list>";
  xml.close();
  expect_right_stacks({"xmllint", "--xpath", "count(//item[name])", folder / "input.xml"}, 100);
}

TEST(stacks, of_perl_are_right) {
  expect_right_stacks({"perl", "-e",
                       "sub f { my ($n) = @_; return $n < 2 ? {n => $n} : {l => f($n - 1), r => f($n - 2)} }"
                       "for (1 .. 20) { my $t = f(17); my @a = sort map { $_ . 'x' } keys %$t; }"},
                      100);
}

TEST(stacks, of_the_compiler_are_right) {
  const scratch_folder folder;
  std::ofstream(folder / "unit.cpp") << "#include <map>\n#include <string>\n#include <vector>\n"
                                        "std::map<std::string, std::vector<int>> m;\n"
                                        "void f() { m[\"x\"].push_back(1); }\n";
  std::string compiler = run({"g++", "-print-prog-name=cc1plus"}).out;
  compiler.pop_back();
  ASSERT_EQ(run({"g++", "-E", folder / "unit.cpp", "-o", folder / "unit.ii"}).status, 0);
  expect_right_stacks(
      {compiler, "-quiet", "-O1", "-fpreprocessed", folder / "unit.ii", "-o", folder / "unit.s"}, 100);
}

TEST(stacks, of_four_threads_are_right) { expect_right_stacks({target("deep_threads")}, 100); }

}  // namespace
}  // namespace mallard::test
