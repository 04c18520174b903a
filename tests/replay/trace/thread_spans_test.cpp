#include "replay/trace/thread_spans.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace mallard::replay {
namespace {

using journal::thread_info;

// Ops 0 to 9, at times 10, 20 ... 100: thread 1 does 3 and 4, thread 2 does 6, thread 0 the rest.
thread_spans ten_ops() {
  thread_spans threads;
  for (std::size_t op = 0; op < 10; ++op)
    threads.note(op == 3 || op == 4 ? 1 : op == 6 ? 2 : 0, op, 10 * (op + 1));
  return threads;
}

// Between changes of thread an op's time is not known: thread 1 has begun when thread 0 was last seen before
// it.
TEST(ThreadSpans, AThreadLivesFromItsRecordedStartToItsRecordedEnd) {
  const std::vector<thread_info> recorded{{.start_time = 0, .end_time = 0},
                                          {.start_time = 25, .end_time = 75},
                                          {.start_time = 55, .end_time = 0}};
  const thread_lives lives = ten_ops().lives(recorded, 10);
  EXPECT_TRUE(lives.have_times);
  EXPECT_EQ(lives.spans, (std::vector<thread_span>{{0, 10}, {3, 7}, {5, 10}}));
}

TEST(ThreadSpans, AThreadWithoutTimesLivesFromItsFirstOpToItsLast) {
  const thread_lives lives = ten_ops().lives(std::vector<thread_info>(3), 10);
  EXPECT_FALSE(lives.have_times);
  EXPECT_EQ(lives.spans, (std::vector<thread_span>{{0, 10}, {3, 5}, {6, 7}}));
}

// Clocks of processors differ by a little: what a thread has done is during its life whatever the times say.
TEST(ThreadSpans, ATimeThatContradictsAThreadsOpsGivesWay) {
  const std::vector<thread_info> recorded{{}, {.start_time = 55, .end_time = 60}, {}};
  EXPECT_EQ(ten_ops().lives(recorded, 10).spans[1], (thread_span{3, 5}));
}

TEST(ThreadSpans, AThreadWithoutOpsHasNoSpan) {
  thread_spans threads;
  threads.note(2, 0, 1);
  const thread_lives lives = threads.lives(std::vector<thread_info>(3, {.start_time = 1}), 1);
  EXPECT_EQ(lives.spans[0].end, 0U);
  EXPECT_EQ(lives.spans[2].end, 1U);
}

// The time of an op long after the last change of thread is known, too.
TEST(ThreadSpans, ALongRunOfOneThreadIsTimedOnTheWay) {
  thread_spans threads;
  for (std::size_t op = 0; op < 1000; ++op) threads.note(0, op, op);
  threads.note(1, 1000, 1000);
  const std::vector<thread_info> recorded{{}, {.start_time = 500}};
  const thread_span late = threads.lives(recorded, 1001).spans[1];
  EXPECT_GE(late.begin, 500U);
  EXPECT_LT(late.begin, 600U);
}

}  // namespace
}  // namespace mallard::replay
