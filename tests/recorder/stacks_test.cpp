// Stacks that are recorded of real programs are what libunwind finds at the same calls; annotated scopes
// stand in them, and end when their function does.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <map>
#include <regex>
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

using names = std::vector<std::string>;

class scopes : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { record({target("scoped")}); }

  void record(const std::vector<std::string>& command) {
    const run_result result = run(record_command(folder_ / "journal", command, {"--stack", GetParam()}));
    ASSERT_EQ(result.status, 0) << result.err;
    recorded_ = read_journal(folder_ / "journal");
  }

  // Names of the scopes around the allocation of this size, outermost first.
  names around(std::uint64_t size) const {
    names found;
    for (std::uint32_t context = allocation(size).context; context != 0;) {
      const journal::context_node& node = recorded_.tables.contexts.at(context);
      if (node.name != 0) found.insert(found.begin(), recorded_.tables.names.at(node.name));
      context = node.parent;
    }
    return found;
  }

  const journal::event& allocation(std::uint64_t size) const {
    const auto found = std::find_if(recorded_.events.begin(), recorded_.events.end(),
                                    [=](const journal::event& e) { return e.size == size; });
    EXPECT_NE(found, recorded_.events.end()) << size;
    return *found;
  }

  scratch_folder folder_;
  recorded recorded_;
};

TEST_P(scopes, nest) {
  EXPECT_EQ(around(5000), names{});
  EXPECT_EQ(around(5001), names{"outer"});
  EXPECT_EQ(around(5002), (names{"outer", "inner"}));
}

TEST_P(scopes, go_on_in_a_forked_child) {
  record({target("scoped"), "fork"});
  ASSERT_EQ(recorded_.tables.children.size(), 1u);
  recorded_ = read_journal(folder_ / recorded_.tables.children.front().journal);
  EXPECT_EQ(around(5101), names{"outer"});
  EXPECT_EQ(around(5102), (names{"outer", "inner"}));
}

// A letter a node, outermost first: s for a scope, f for a frame.
TEST_P(scopes, stand_between_the_frames_outside_and_inside_of_them) {
  std::string nodes;
  for (std::uint32_t context = allocation(5002).context; context != 0;) {
    const journal::context_node& node = recorded_.tables.contexts.at(context);
    nodes.insert(nodes.begin(), node.name != 0 ? 's' : 'f');
    EXPECT_EQ(node.return_address != 0, node.name == 0);
    context = node.parent;
  }
  // With the whole stack: what calls main; both scopes, which are main's; the call in main and one further
  // in.
  const std::map<std::string, std::string> expected = {{"none", "ss"}, {"caller", "ssf"}, {"full", "f+ssff"}};
  EXPECT_TRUE(std::regex_match(nodes, std::regex(expected.at(GetParam())))) << nodes;
}

TEST_P(scopes, end_with_their_function_however_it_ends) {
  EXPECT_EQ(around(5003), (names{"outer", "thrown"}));
  EXPECT_EQ(around(5004), names{"outer"});
  EXPECT_EQ(around(5005), (names{"outer", "jumped"}));
  EXPECT_EQ(around(5006), names{"outer"});
  EXPECT_EQ(around(5007), (names{"outer", "forgotten"}));
  EXPECT_EQ(around(5008), names{"outer"});
}

TEST_P(scopes, begin_anew_where_they_were_left_open) {
  for (const std::uint64_t size : {5017u, 5027u, 5037u})
    EXPECT_EQ(around(size), (names{"outer", "forgotten"}));
  EXPECT_EQ(around(5012), names{"outer"});
}

TEST_P(scopes, end_with_the_one_around_them) {
  EXPECT_EQ(around(5009), names{"outer"});
  EXPECT_EQ(around(5010), names{"outer"});
}

TEST_P(scopes, beyond_the_64th_are_ignored) {
  const names found = around(5011);
  ASSERT_EQ(found.size(), 64u);
  EXPECT_EQ(found[0], "outer");
  EXPECT_EQ(found[1], "even");
  EXPECT_EQ(found[2], "odd");
}

TEST_P(scopes, are_known_by_their_text) {
  for (std::uint64_t i = 0; i < 200; ++i)
    EXPECT_EQ(around(6000 + i), (names{"outer", "number " + std::to_string(i)}));
  names all = recorded_.tables.names;
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
}

INSTANTIATE_TEST_SUITE_P(stacks, scopes, testing::Values("none", "caller", "full"),
                         [](const auto& mode) { return std::string(mode.param); });

}  // namespace
}  // namespace mallard::test
