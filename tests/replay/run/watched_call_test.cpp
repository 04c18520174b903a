#include "replay/run/watched_call.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "replay/trace/events.hpp"

namespace mallard::replay {
namespace {

using testing::events;

std::string said;  // by the heap and by the meter, in order

std::uint64_t read() noexcept {
  said += '|';
  return 7 * said.size();
}

class talker {
 public:
  void* allocate(const op& o) {
    said += "a";
    return o.size > 1000 ? nullptr : memory.data();
  }
  void* allocate_aligned(const op&) {
    said += "m";
    return memory.data();
  }
  void* allocate_zeroed(const op&) {
    said += "c";
    return memory.data();
  }
  void deallocate(void* p, const op&) { said += p == memory.data() ? "f" : "?"; }
  void* reallocate(void* p, const op& to, const op& from) {
    said += p == memory.data() && to.size == 40 && from.size == 4 ? "r" : "?";
    return memory.data() + 1;
  }
  void end_pass() {}

  std::array<char, 100> memory{};
};

TEST(WatchedCall, StandsBetweenItsTwoReadingsAlone) {
  const trace t =
      events().malloc(1, 4).memalign(2, 4, 64).calloc(3, 4).free(3).realloc(1, 1, 40).malloc(4, 5000).build();
  talker heap;
  std::vector<void*> slots(t.facts().slots);
  const harness::operation_meter meter(read);
  const auto call = [&](std::size_t i, touch touched = touch::first) {
    said.clear();
    return watched_call(heap, &t.ops()[i], slots.data(), touched, meter);
  };
  EXPECT_EQ(call(0), 14u) << "two letters, and seven for each";
  EXPECT_EQ(said, "|a|");
  EXPECT_EQ(heap.memory[0], 1) << "touched";
  EXPECT_EQ(heap.memory[1], 0);
  call(1, touch::all);
  EXPECT_EQ(said, "|m|");
  EXPECT_EQ(heap.memory[3], 1);
  call(2);
  EXPECT_EQ(said, "|c|");
  call(3);
  EXPECT_EQ(said, "|f|");
  call(4);
  EXPECT_EQ(said, "|r|");
  EXPECT_EQ(slots[t.ops()[4].slot], heap.memory.data() + 1);
  ASSERT_EQ(t.ops()[6].size, 5000u);
  EXPECT_FALSE(call(6)) << "refused";
}

}  // namespace
}  // namespace mallard::replay
