// Stopped after every single instruction, a program's stack is the one that libunwind sees: in the
// middle of prologues and epilogues, in procedure linkage entries, inside the loader's lazy binding.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>

#include "unwind/walks.hpp"

namespace mallard::unwind::test {
namespace {

struct outcome {
  int steps = 0;
  int agreeing = 0;
  int cut_short = 0;  // where a frame's rule needs a register that is not followed
};

constinit outcome counted;
constinit stack_range stack{};
constinit two_walks walks;

void at_instruction(int, siginfo_t*, void*) {
  ucontext_t here;
  getcontext(&here);
  walk_both(here, stack, walks);
  ++counted.steps;
  if (same(walks))
    ++counted.agreeing;
  else if (walks.ours.ended_unknown && walks.ours.depth < walks.theirs.depth)
    ++counted.cut_short;
}

constexpr std::uintptr_t trap_flag = 0x100;

[[gnu::always_inline]] inline void toggle_stepping() {
  asm volatile("lea -128(%%rsp), %%rsp; pushfq; xorq %0, (%%rsp); popfq; lea 128(%%rsp), %%rsp"
               :
               : "i"(trap_flag)
               : "memory", "cc");
}

outcome step_through(void (*what)()) {
  struct sigaction action{};
  action.sa_sigaction = at_instruction;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, nullptr);
  stack = this_stack();
  raise(SIGTRAP);  // both unwinders have met everything that they set up at first use
  counted = {};
  toggle_stepping();
  what();
  toggle_stepping();
  std::printf("%d steps, %d cut short\n", counted.steps, counted.cut_short);
  return counted;
}

void nothing(void*) {}

TEST(single_step, through_frames_of_every_shape) {
  const outcome found = step_through([] {
    with_pointers::plain(3, nothing, nullptr);
    without_pointers::plain(3, nothing, nullptr);
    with_pointers::with_alloca(100, nothing, nullptr);
    without_pointers::with_alloca(100, nothing, nullptr);
    with_pointers::with_many_arguments(nothing, nullptr);
    without_pointers::with_many_arguments(nothing, nullptr);
  });
  EXPECT_GT(found.steps, 100);
  EXPECT_EQ(found.agreeing, found.steps);
}

// While a realigning frame is set up, and taken down, its CFA is in a register that is not followed.
TEST(single_step, through_realigned_frames) {
  const outcome found = step_through([] {
    with_pointers::over_aligned(nothing, nullptr);
    without_pointers::over_aligned_with_alloca(10, nothing, nullptr);
  });
  EXPECT_GT(found.steps, 50);
  EXPECT_EQ(found.agreeing + found.cut_short, found.steps);
  EXPECT_LT(found.cut_short, 20);
}

// This test is linked for lazy binding, and nothing else in it calls this function. The loader's entry
// keeps its CFA in a register that is not followed: walks from within the loader end there.
TEST(single_step, through_lazy_binding) {
  const outcome first = step_through([] { static_cast<void>(getpgrp()); });
  const outcome second = step_through([] { static_cast<void>(getpgrp()); });
  EXPECT_GT(first.steps, second.steps + 100);  // the loader ran
  EXPECT_EQ(first.agreeing + first.cut_short, first.steps);
  EXPECT_GT(first.agreeing, second.steps);  // the way in and out, and the linkage entry
  EXPECT_EQ(second.agreeing, second.steps);
}

}  // namespace
}  // namespace mallard::unwind::test
