// A walk by our rules sees the stack that libunwind sees, whatever frames are on it.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <thread>

#include "unwind/walks.hpp"

namespace mallard::unwind::test {
namespace {

// Compares the two walks from here; `data` counts how often.
[[gnu::noinline]] void compare_here(void* data) {
  ucontext_t here;
  ASSERT_EQ(getcontext(&here), 0);
  two_walks walks;
  walk_both(here, this_stack(), walks);
  EXPECT_TRUE(walks.ours.steps_agree);
  EXPECT_GT(walks.theirs.depth, 3u);
  ASSERT_EQ(walks.ours.depth, walks.theirs.depth);
  for (std::size_t i = 0; i < walks.ours.depth; ++i) EXPECT_EQ(walks.ours.pcs[i], walks.theirs.pcs[i]) << i;
  ++*static_cast<int*>(data);
}

int compared = 0;  // by signal handlers, comparators and others that take no argument

void compare_in_handler(int) { compare_here(&compared); }

class walk : public testing::Test {
 protected:
  walk() { compared = 0; }
};

TEST_F(walk, of_plain_frames) {
  for (const int depth : {0, 1, 10, 60}) {
    with_pointers::plain(depth, compare_here, &compared);
    without_pointers::plain(depth, compare_here, &compared);
  }
  EXPECT_EQ(compared, 8);
}

TEST_F(walk, of_alloca_frames) {
  for (const std::size_t bytes : {1u, 100u, 100'000u}) {
    with_pointers::with_alloca(bytes, compare_here, &compared);
    without_pointers::with_alloca(bytes, compare_here, &compared);
  }
  EXPECT_EQ(compared, 6);
}

TEST_F(walk, of_realigned_stacks) {
  with_pointers::over_aligned(compare_here, &compared);
  without_pointers::over_aligned(compare_here, &compared);
  for (const std::size_t bytes : {1u, 1000u}) {
    with_pointers::over_aligned_with_alloca(bytes, compare_here, &compared);
    without_pointers::over_aligned_with_alloca(bytes, compare_here, &compared);
  }
  EXPECT_EQ(compared, 6);
}

TEST_F(walk, of_frames_with_arguments_on_the_stack) {
  with_pointers::with_many_arguments(compare_here, &compared);
  without_pointers::with_many_arguments(compare_here, &compared);
  EXPECT_EQ(compared, 2);
}

TEST_F(walk, across_a_signal) {
  struct sigaction action{};
  action.sa_handler = compare_in_handler;
  sigaction(SIGUSR1, &action, nullptr);
  const auto inside_out = [](void*) { raise(SIGUSR1); };
  with_pointers::over_aligned(inside_out, nullptr);
  without_pointers::plain(3, inside_out, nullptr);
  EXPECT_EQ(compared, 2);
}

TEST_F(walk, across_a_signal_within_a_signal) {
  struct sigaction action{};
  action.sa_handler = compare_in_handler;
  sigaction(SIGUSR1, &action, nullptr);
  action.sa_handler = [](int) { raise(SIGUSR1); };
  sigaction(SIGUSR2, &action, nullptr);
  raise(SIGUSR2);
  EXPECT_EQ(compared, 1);
}

TEST_F(walk, below_a_callback_of_libc) {
  int numbers[] = {3, 1, 2};
  const auto order = [](const void* left, const void* right) {
    compare_here(&compared);
    return *static_cast<const int*>(left) - *static_cast<const int*>(right);
  };
  std::qsort(numbers, 3, sizeof numbers[0], order);
  EXPECT_GE(compared, 2);
  EXPECT_TRUE(std::is_sorted(numbers, numbers + 3));
}

TEST_F(walk, in_a_thread) {
  std::thread([] { without_pointers::over_aligned(compare_here, &compared); }).join();
  EXPECT_EQ(compared, 1);
}

TEST_F(walk, where_an_exception_passed) {
  struct at_scope_end {
    ~at_scope_end() { compare_here(&compared); }
  };
  try {
    at_scope_end guard;
    with_pointers::over_aligned([](void*) { throw std::runtime_error("thrown through all frames"); },
                                nullptr);
  } catch (const std::exception&) {
    compare_here(&compared);
    without_pointers::plain(2, compare_here, &compared);
  }
  EXPECT_EQ(compared, 3);
}

TEST_F(walk, ends_at_the_end_of_the_readable_stack) {
  const auto inner = [](void* count) {
    ucontext_t here;
    ASSERT_EQ(getcontext(&here), 0);
    const auto sp = static_cast<std::uintptr_t>(here.uc_mcontext.gregs[REG_RSP]);
    two_walks walks;
    std::size_t shortest = walked_stack::max_depth;
    std::size_t depth = 0;
    std::uintptr_t room = 0;
    do {
      walk_both(here, {sp, sp + room}, walks);
      ASSERT_GE(walks.ours.depth, depth);
      depth = walks.ours.depth;
      ASSERT_TRUE(
          std::equal(walks.ours.pcs.begin(), walks.ours.pcs.begin() + depth, walks.theirs.pcs.begin()));
      shortest = std::min(shortest, depth);
      room += 8;
    } while (walks.ours.ended_unknown);
    EXPECT_EQ(shortest, 1u);
    EXPECT_EQ(depth, walks.theirs.depth);
    ++*static_cast<int*>(count);
  };
  without_pointers::plain(100, inner, &compared);
  EXPECT_EQ(compared, 1);
}

// Walks with the general step alone; signal frames need it.
void check_reads(int) {
  ucontext_t here;
  ASSERT_EQ(getcontext(&here), 0);
  const auto& registers = here.uc_mcontext.gregs;
  frame_registers frame{static_cast<std::uintptr_t>(registers[REG_RIP]),
                        static_cast<std::uintptr_t>(registers[REG_RSP]),
                        static_cast<std::uintptr_t>(registers[REG_RBP]), true};
  const stack_range stack = this_stack();
  for (frame_step step; step_by_expression(frame, stack, step); frame = step.caller) {
    ASSERT_LE(step.read_count, frame_step::max_reads);
    bool read_pc = false;
    for (const word_read& read : std::span(step.reads, step.read_count)) {
      EXPECT_EQ(*reinterpret_cast<const std::uintptr_t*>(read.address), read.value);
      EXPECT_GE(read.address, stack.begin);
      EXPECT_LT(read.address, stack.end);
      read_pc |= read.value == step.caller.pc;
    }
    EXPECT_TRUE(read_pc);
    compared += step.caller.pc_is_exact;
  }
}

TEST_F(walk, tells_what_a_general_step_read) {
  struct sigaction action{};
  action.sa_handler = check_reads;
  sigaction(SIGUSR1, &action, nullptr);
  without_pointers::over_aligned_with_alloca(10, [](void*) { raise(SIGUSR1); }, nullptr);
  EXPECT_EQ(compared, 1);
}

}  // namespace
}  // namespace mallard::unwind::test
