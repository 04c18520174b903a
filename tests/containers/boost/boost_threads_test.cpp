// Four threads on one v2_allocator: Boost's containers, commands, bursts, and blocks that pass between them.
// A million steps, half of them in each form; ./dev soak takes a hundred million.
#include <gtest/gtest.h>

#include "containers/boost/guest.hpp"
#include "mallard/heap/best_fit.hpp"
#include "mallard/heap/synchronized_best_fit.hpp"
#include "mallard/layer/locked.hpp"

namespace mallard::containers {
namespace {

template <class Heap>
class BoostThreads : public testing::Test {};
using Heaps = testing::Types<locked<best_fit>, synchronized_best_fit>;
TYPED_TEST_SUITE(BoostThreads, Heaps);

TYPED_TEST(BoostThreads, ShareOneAllocator) {
  constexpr std::size_t steps = 500'000;  // in each form
  constexpr std::size_t rounds = 5;
  four_guests<TypeParam> threads(1);
  for (std::size_t round = 0; round < rounds; ++round) {
    threads.work(steps / rounds / 4);
    ASSERT_EQ(threads.violation(), "");
  }
  threads.leave();
  EXPECT_EQ(threads.violation(), "");
  EXPECT_EQ(threads.heap().usage().granted, 0u);
  threads.heap().trim(0);
  EXPECT_EQ(threads.heap().usage().held, 0u);
}

// A heap that writes into a block which it has handed out, now and then. Not into one of a list's nodes, for
// its elements to stay linked.
class writes_into_blocks {
 public:
  static constexpr bool is_concurrent = true;

  [[nodiscard]] block allocate(std::size_t size, std::size_t align) noexcept {
    const block b = heap_.allocate(size, align);
    if (size < 200) return b;
    if (++requests_ % 100 == 0) ++*last_byte_;
    last_byte_ = static_cast<unsigned char*>(b.data) + size - 1;
    return b;
  }
  void deallocate(void*) noexcept {}  // for the last block to be one
  void deallocate(void*, std::size_t, std::size_t) noexcept {}

 private:
  best_fit heap_;
  unsigned char* last_byte_ = nullptr;
  std::size_t requests_ = 0;
};

TEST(BoostThreadsControl, ABlockThatIsDamagedIsFound) {
  writes_into_blocks heap;
  mailboxes boxes{};
  guest<writes_into_blocks> alone(heap, boxes, 1);
  for (int i = 0; i < 100'000 && alone.violation() == nullptr; ++i) alone.step();
  EXPECT_NE(alone.violation(), nullptr);
}

}  // namespace
}  // namespace mallard::containers
