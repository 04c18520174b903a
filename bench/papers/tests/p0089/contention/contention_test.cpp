#include "p0089/contention/contention.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "common/page.hpp"
#include "common/race.hpp"

namespace mallard::bench {
namespace {

TEST(Contention, NamesItsSettings) {
  EXPECT_EQ(group_of(contention_setting{15, 6, 8}),
            (nlohmann::ordered_json{{"iterations", 15}, {"block", 6}, {"threads", 8}}));
}

TEST(Contention, SaysHowManyCoresThereWere) {
  const auto method = method_of(contention_setting{15, 6, 8});
  EXPECT_GE(method["cores"], 1);
  EXPECT_TRUE(method["threads"].get<std::string>().starts_with("8 on ")) << method;
}

TEST(Contention, NeedsMemoryForItsThreads) {
  EXPECT_GE(bytes_needed(contention_setting{15, 6, 8}), 8 * stack_of_thread);
  EXPECT_GT(bytes_needed(contention_setting{15, 6, 8}), bytes_needed(contention_setting{15, 6, 7}));
}

// What an allocator makes of a group, in this process, under its malloc.
page ran(const measured_allocator& c) {
  setting whole;
  whole.contention = {4, 6, 2};
  page p(whole);
  c.run(p);
  return p;
}

TEST(Contention, TellsFailedLocksOfTheHeapsWhoseLockIsOurs) {
  std::set<std::string> counted;
  std::set<std::string> uncounted;
  for (const measured_allocator& c : contention_allocators()) {
    if (c.bound == binding::malloc) continue;
    const page p = ran(c);
    EXPECT_EQ(p.state, harness::work_state::done) << c.name();
    (p.failed_locks >= 0 ? counted : uncounted).insert(c.strategy);
  }
  EXPECT_EQ(counted,
            (std::set<std::string>{"synchronized_multipool", "synchronized_pool", "locked multipool"}));
  EXPECT_EQ(uncounted, (std::set<std::string>{"new_delete", "monotonic", "multipool", "multipool/monotonic",
                                              "std.monotonic", "boost.monotonic", "std.pool", "boost.pool",
                                              "std.sync_pool", "boost.sync_pool"}));
}

}  // namespace
}  // namespace mallard::bench
