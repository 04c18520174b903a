#include "replay/latency/located_operation.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "replay/trace/events.hpp"

namespace mallard::replay {
namespace {

using testing::events;

TEST(LocatedOperation, SaysWhichEventItIsAndWhatWasAlive) {
  const trace t = events()
                      .free(9)         // 0: no operation
                      .malloc(1, 100)  // 1
                      .calloc(2, 50)   // 2
                      .malloc(0, 8)    // 3: failed
                      .realloc(1, 3, 300)
                      .free(2)
                      .memalign(4, 64, 64)
                      .free(3)
                      .build();
  ASSERT_EQ(t.ops()[2].kind, op_kind::reallocate);
  const std::vector<slow_operation> slow{{.op = 6, .ns = 9, .faults = 4},
                                         {.op = 2, .ns = 8},
                                         {.op = 1, .ns = 7},
                                         {.op = 5, .ns = 6},
                                         {.op = 4, .ns = 5}};
  const std::vector<located_operation> found = locate(t, slow);
  ASSERT_EQ(found.size(), 5u);

  EXPECT_EQ(found[0].op, 6u) << "the order is the caller's";
  EXPECT_EQ(found[0].ns, 9);
  EXPECT_EQ(found[0].faults, 4u);
  EXPECT_EQ(found[0].kind, operation::deallocation);
  EXPECT_EQ(found[0].event, 7u);
  EXPECT_EQ(found[0].size, 300u);
  EXPECT_EQ(found[0].live_blocks, 2u) << "it is alive when its free begins";
  EXPECT_EQ(found[0].live_bytes, 364u);

  EXPECT_EQ(found[1].kind, operation::reallocation);
  EXPECT_EQ(found[1].event, 4u);
  EXPECT_EQ(found[1].size, 300u);
  EXPECT_EQ(found[1].old_size, 100u);
  EXPECT_EQ(found[1].live_bytes, 150u);

  EXPECT_EQ(found[2].kind, operation::calloc);
  EXPECT_EQ(found[2].event, 2u);
  EXPECT_EQ(found[2].live_blocks, 1u);
  EXPECT_FALSE(found[2].old_size);

  EXPECT_EQ(found[3].kind, operation::allocation);
  EXPECT_EQ(found[3].event, 6u);
  EXPECT_EQ(found[3].live_bytes, 300u);
  EXPECT_EQ(found[4].event, 5u);
}

}  // namespace
}  // namespace mallard::replay
