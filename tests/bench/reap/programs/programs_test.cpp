// The programs over regions: over each kind of memory the same output, and nothing left.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct told {
  std::string output;
  int exit_code = -1;
};

told run(const std::string& command) {
  told all;
  FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return all;
  std::vector<char> part(65536);
  for (std::size_t n; (n = std::fread(part.data(), 1, part.size(), pipe)) != 0;)
    all.output.append(part.data(), n);
  const int status = ::pclose(pipe);
  all.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return all;
}

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> programs() {
  std::istringstream names(MALLARD_REGION_PROGRAMS);
  return {std::istream_iterator<std::string>(names), {}};
}

std::string path_of(const std::string& program) { return std::string(MALLARD_PROGRAM_FOLDER "/") + program; }

// "interpreter-region" is the interpreter.
std::string kind_less(const std::string& program) { return program.substr(0, program.find('-')); }

class every_kind : public testing::TestWithParam<std::string> {};

TEST_P(every_kind, tells_what_the_program_means) {
  const std::string input = std::string(MALLARD_INPUTS "/") + kind_less(GetParam());
  const told all = run(path_of(GetParam()) + " " + input + ".txt 2>&1");
  EXPECT_EQ(all.exit_code, 0);
  EXPECT_EQ(all.output, content(input + ".expected"));
}

TEST_P(every_kind, is_the_same_where_the_heap_begins_elsewhere) {
  const std::string input = std::string(MALLARD_INPUTS "/") + kind_less(GetParam());
  const told all = run(path_of(GetParam()) + " --shift 4032 " + input + ".txt 2>&1");
  EXPECT_EQ(all.exit_code, 0);
  EXPECT_EQ(all.output, content(input + ".expected"));
}

TEST_P(every_kind, tells_a_mistake_with_its_line) {
  const std::string input = testing::TempDir() + "/" + GetParam() + ".txt";
  std::ofstream(input) << "\n\n@\n";
  const told all = run(path_of(GetParam()) + " " + input + " 2>&1");
  std::remove(input.c_str());
  EXPECT_EQ(all.exit_code, 1);
  EXPECT_EQ(all.output, "line 3: no word begins so: @\n");
}

TEST_P(every_kind, says_how_it_is_called) {
  EXPECT_EQ(run(path_of(GetParam()) + " 2>/dev/null").exit_code, 2);
  EXPECT_EQ(run(path_of(GetParam()) + " /there/is/no/such/file 2>/dev/null").exit_code, 2);
}

INSTANTIATE_TEST_SUITE_P(programs, every_kind, testing::ValuesIn(programs()), [](const auto& one) {
  std::string name = one.param;
  for (char& c : name)
    if (c == '-') c = '_';
  return name;
});

#if !MALLARD_SANITIZED
const std::map<std::string, std::string> sha256_of_standard_output = {
    {"compiler", "1e5277cd33ee896a9ed6528a978b138c0ef6ad6723ed36e538de3c5f3690a319"},
    {"interpreter", "d2740a7a43daac5f8178829e67e9e86c3b96036ac05166d9e4b3f654b699a901"}};

TEST_P(every_kind, gives_the_output_that_is_known_of_its_standard_input) {
  const std::string program = kind_less(GetParam());
  const std::string input = MALLARD_PROGRAM_FOLDER "/standard/" + program + ".txt";
  const told sum = run(path_of(GetParam()) + " " + input + " | sha256sum | cut -d ' ' -f 1");
  EXPECT_EQ(sum.output, sha256_of_standard_output.at(program) + "\n");
}
#endif

TEST(counting, is_of_the_builds_that_count) {
  const told all = run(path_of("interpreter-region") + " --count " MALLARD_INPUTS "/interpreter.txt 2>&1");
  EXPECT_EQ(all.exit_code, 2);
  EXPECT_EQ(all.output, "--count: only the builds named recorded count\n");
}

// name -> figure, of what --count prints
std::map<std::string, double> counted(const std::string& program, const std::string& input) {
  std::istringstream lines(run(path_of(program) + " --count " + input + " 2>&1 >/dev/null").output);
  std::map<std::string, double> found;
  for (std::string line; std::getline(lines, line);)
    if (line.size() > 20) found[line.substr(0, line.find("  "))] = std::stod(line.substr(20));
  return found;
}

class standard_input : public testing::TestWithParam<std::string> {};

// Where a sanitizer slows everything down, the figures are those of the small input.
TEST_P(standard_input, is_large_enough_to_judge_by) {
  const std::string input = MALLARD_SANITIZED != 0
                                ? std::string(MALLARD_INPUTS "/") + GetParam() + ".txt"
                                : std::string(MALLARD_PROGRAM_FOLDER "/standard/") + GetParam() + ".txt";
  std::map<std::string, double> figures = counted(GetParam() + "-recorded", input);
  EXPECT_GE(figures["total objects"], MALLARD_SANITIZED != 0 ? 1e3 : 1e7);
  EXPECT_GT(figures["max objects in use"], 0);
  EXPECT_LE(figures["max in use"], figures["total memory"]);
  EXPECT_GE(figures["regions"], 50);
  EXPECT_EQ(figures["left alive"], 0);
}

INSTANTIATE_TEST_SUITE_P(programs, standard_input, testing::Values("interpreter", "compiler"),
                         [](const auto& one) { return one.param; });

}  // namespace
