#include "mallard/layer/returned_batches.hpp"

#include <gtest/gtest.h>
#include <sys/time.h>

#include <array>
#include <atomic>
#include <csignal>
#include <thread>
#include <vector>

namespace mallard {
namespace {

struct alignas(16) smallest_block {
  std::array<std::byte, returned_batches::least_block> bytes;
};

// Blocks linked in order, as a thread's list has them.
batch batch_of(std::vector<smallest_block>& blocks, std::size_t from, std::size_t count) {
  batch made;
  for (std::size_t i = from + count; i-- > from; ++made.count)
    made.first = ::new (static_cast<void*>(&blocks[i])) chain::node{made.first};
  return made;
}

std::vector<const void*> blocks_of(batch b) {
  std::vector<const void*> found;
  for (const void* p = b.first; p != nullptr; p = chain::next(p)) found.push_back(p);
  return found;
}

TEST(ReturnedBatches, IsEmptyAtFirst) {
  returned_batches returned;
  EXPECT_FALSE(returned.pop());
}

TEST(ReturnedBatches, BatchesOfAnyLengthComeBackWholeTheLastFirst) {
  returned_batches returned;
  std::vector<smallest_block> blocks(100);
  std::size_t from = 0;
  for (const std::size_t count : {1u, 2u, 3u, 32u, 1u}) {
    returned.push(batch_of(blocks, from, count));
    from += count;
  }
  for (const std::size_t count : {1u, 32u, 3u, 2u, 1u}) {
    const batch b = returned.pop();
    EXPECT_EQ(b.count, count);
    const std::vector<const void*> linked = blocks_of(b);
    ASSERT_EQ(linked.size(), count);
    from -= count;
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(linked[i], &blocks[from + i]);
  }
  EXPECT_FALSE(returned.pop());
}

TEST(ReturnedBatches, CanBeLookedThroughAndForgotten) {
  returned_batches returned;
  std::vector<smallest_block> blocks(6);
  returned.push(batch_of(blocks, 0, 2));
  returned.push(batch_of(blocks, 2, 4));
  std::vector<std::size_t> counts;
  returned.for_each([&](batch b) {
    counts.push_back(b.count);
    return counts.size() < 1;
  });
  EXPECT_EQ(counts, (std::vector<std::size_t>{4}));
  returned.clear();
  EXPECT_FALSE(returned.pop());
}

// A signal that pushes comes between any two instructions of a push or a pop, as another thread would.
namespace interrupting {

returned_batches returned;
std::array<smallest_block, 1000> blocks;
std::atomic<std::size_t> pushed{0};

void push_one(int) {
  if (pushed < blocks.size()) returned.push(batch::of(&blocks[pushed++]));
}

}  // namespace interrupting

TEST(ReturnedBatches, NothingIsLostWherePushesInterruptPushesAndPops) {
  using interrupting::pushed;
  using interrupting::returned;
  struct sigaction act{};
  struct sigaction before{};
  act.sa_handler = interrupting::push_one;
  ASSERT_EQ(::sigaction(SIGALRM, &act, &before), 0);
  const itimerval often{{0, 50}, {0, 50}};
  const itimerval never{};
  ASSERT_EQ(::setitimer(ITIMER_REAL, &often, nullptr), 0);
  std::array<smallest_block, 8> mine{};
  std::size_t pushed_here = 0;
  std::size_t popped = 0;
  while (pushed < interrupting::blocks.size()) {
    for (smallest_block& b : mine) {  // popped again, each of them, before the next turn
      returned.push(batch::of(&b));
      ++pushed_here;
    }
    while (returned.pop()) ++popped;
  }
  ASSERT_EQ(::setitimer(ITIMER_REAL, &never, nullptr), 0);
  ASSERT_EQ(::sigaction(SIGALRM, &before, nullptr), 0);
  while (returned.pop()) ++popped;
  EXPECT_EQ(popped, pushed_here + pushed);
}

// Several threads push what one pops and hands round again: no block is lost, doubled or torn.
TEST(ReturnedBatches, ManyPushWhileOnePops) {
  constexpr std::size_t threads = 4;
  constexpr std::size_t batches = 64;
  constexpr std::size_t length = 8;
  constexpr std::size_t rounds = 20000;
  returned_batches forth;
  std::array<returned_batches, threads> back;
  std::vector<smallest_block> blocks(threads * batches * length);
  for (std::size_t b = 0; b < threads * batches; ++b)
    back[b % threads].push(batch_of(blocks, b * length, length));
  std::atomic<bool> done{false};
  std::vector<std::thread> pushing;
  for (std::size_t t = 0; t < threads; ++t)
    pushing.emplace_back([&, t] {
      while (!done.load(std::memory_order_relaxed))
        if (const batch b = back[t].pop())
          forth.push(b);
        else
          std::this_thread::yield();
    });
  std::size_t torn = 0;
  for (std::size_t popped = 0; popped < rounds;) {
    const batch b = forth.pop();
    if (!b) {
      std::this_thread::yield();
      continue;
    }
    if (blocks_of(b).size() != length || b.count != length) ++torn;
    back[++popped % threads].push(b);
  }
  done = true;
  for (std::thread& t : pushing) t.join();
  EXPECT_EQ(torn, 0u);
  std::size_t left = 0;
  for (returned_batches* r : {&forth, &back[0], &back[1], &back[2], &back[3]})
    for (batch b = r->pop(); b; b = r->pop()) left += b.count;
  EXPECT_EQ(left, blocks.size());
}

}  // namespace
}  // namespace mallard
