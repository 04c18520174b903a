#include "replay/run/block_calls.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>

namespace mallard::replay {
namespace {

constexpr op any{24, 0, op_kind::allocate, 3};
constexpr op other{48, 0, op_kind::reallocate, 3};

// Says which of its members was called.
class saying {
 public:
  void* allocate(const op& o) { return say(o.size == any.size ? "allocate " : "? "); }
  void* allocate_aligned(const op&) { return say("aligned "); }
  void deallocate(void* p, const op&) { say(p == memory.data() ? "deallocate " : "? "); }
  void* reallocate(void* p, const op& to, const op& from) {
    return say(p == memory.data() && to.size == other.size && from.size == any.size ? "reallocate " : "? ");
  }
  void end_pass() { say("end "); }

  std::string said;
  std::array<char, 64> memory{};

 protected:
  void* say(const char* what) {
    said += what;
    return memory.data();
  }
};

class saying_more : public saying {
 public:
  void* allocate_zeroed(const op&) { return say("zeroed "); }
  void begin_thread(const thread_part& part, std::uint64_t copy) {
    say(part.lane == 7 && copy == 2 ? "thread " : "? ");
  }
};

template <class C>
std::string said_by_all_calls() {
  C c;
  block_calls calls(c);
  thread_part part{};
  part.lane = 7;
  calls.begin_thread(part, 2);
  EXPECT_EQ(calls.allocate(any), c.memory.data());
  EXPECT_EQ(calls.allocate_aligned(any), c.memory.data());
  EXPECT_EQ(calls.allocate_zeroed(any), c.memory.data());
  calls.deallocate(c.memory.data(), any);
  EXPECT_EQ(calls.reallocate(c.memory.data(), other, any), c.memory.data());
  calls.end_pass();
  return c.said;
}

TEST(BlockCalls, ReachTheAllocatorsOwnMembers) {
  EXPECT_EQ(said_by_all_calls<saying_more>(), "thread allocate aligned zeroed deallocate reallocate end ");
}

TEST(BlockCalls, DoWhatAPassDoesWhereItHasNone) {
  EXPECT_EQ(said_by_all_calls<saying>(), "allocate aligned allocate deallocate reallocate end ");
}

TEST(BlockCalls, ACallocIsZeroedWhereTheAllocatorHasNone) {
  saying c;
  c.memory.fill('x');
  block_calls(c).allocate_zeroed(any);
  EXPECT_EQ(std::string(c.memory.data(), any.size), std::string(any.size, '\0'));
  EXPECT_EQ(c.memory[any.size], 'x');
}

}  // namespace
}  // namespace mallard::replay
