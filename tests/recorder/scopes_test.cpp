// Annotated scopes stand in the contexts of what is allocated in them, and end when their function does.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "recorder/run_process.hpp"

namespace mallard::test {
namespace {

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
