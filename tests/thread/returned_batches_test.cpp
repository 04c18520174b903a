#include "mallard/thread/returned_batches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <utility>
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

// What happens just before one of the accesses to an atomic, as if another thread had done it then.
struct interruption {
  std::size_t accesses_before = 0;
  std::function<void()> what;

  void come() {
    if (what != nullptr && accesses_before-- == 0) std::exchange(what, nullptr)();
  }
};
interruption coming;

template <class T>
struct interrupted_atomic : std::atomic<T> {
  using std::atomic<T>::atomic;

  T load(std::memory_order order) const {
    coming.come();
    return std::atomic<T>::load(order);
  }
  bool compare_exchange_weak(T& expected, T wished, std::memory_order success, std::memory_order failure) {
    coming.come();
    return std::atomic<T>::compare_exchange_strong(expected, wished, success, failure);
  }
};

// Each operation on each small list, with a push of one block or of four before each of its accesses in turn.
class InterruptedBatches : public testing::Test {
 protected:
  using batches = basic_returned_batches<interrupted_atomic>;

  struct found {
    std::vector<std::size_t> popped;  // by the operation, blocks of each batch
    std::vector<std::size_t> left;    // sorted
  };

  // Calls check(before, pushed, found): lengths of the batches there were, the newest last, and of the one
  // pushed; `operate(batches)` returns what it popped.
  template <class Operate, class Check>
  void at_every_access(Operate operate, Check check) {
    const std::vector<std::vector<std::size_t>> lists = {{}, {1}, {3}, {3, 1}, {1, 3}, {1, 1}};
    for (const std::vector<std::size_t>& before : lists)
      for (const std::size_t pushed : {1u, 4u})
        for (std::size_t access = 0;; ++access) {
          batches returned;
          from_ = 0;
          for (const std::size_t length : before) returned.push(next(length));
          coming = {access, [&] { returned.push(next(pushed)); }};
          found f;
          if (const batch b = operate(returned)) f.popped.push_back(length_of(b));
          const bool came = std::exchange(coming.what, nullptr) == nullptr;
          for (batch b = returned.pop(); b; b = returned.pop()) f.left.push_back(length_of(b));
          std::sort(f.left.begin(), f.left.end());
          if (!came) break;
          SCOPED_TRACE("a push of " + std::to_string(pushed) + " blocks before access " +
                       std::to_string(access) + " of an operation on " + std::to_string(before.size()) +
                       " batches");
          check(before, pushed, f);
        }
  }

  batch next(std::size_t length) {
    from_ += length;
    return batch_of(blocks_, from_ - length, length);
  }

  static std::size_t length_of(batch b) {
    const std::size_t linked = blocks_of(b).size();
    EXPECT_EQ(linked, b.count) << "a batch is torn";
    return linked;
  }

  static std::vector<std::size_t> sorted(std::vector<std::size_t> lengths) {
    std::sort(lengths.begin(), lengths.end());
    return lengths;
  }

 private:
  std::vector<smallest_block> blocks_ = std::vector<smallest_block>(16);
  std::size_t from_ = 0;
};

TEST_F(InterruptedBatches, APushLeavesThoseOfAllThreads) {
  at_every_access(
      [this](batches& returned) {
        returned.push(next(2));
        return batch{};
      },
      [](std::vector<std::size_t> before, std::size_t pushed, const found& f) {
        before.insert(before.end(), {2, pushed});
        EXPECT_EQ(f.left, sorted(before));
      });
}

TEST_F(InterruptedBatches, APopTakesAWholeBatchAndLeavesTheOthers) {
  at_every_access([](batches& returned) { return returned.pop(); },
                  [](std::vector<std::size_t> before, std::size_t pushed, found f) {
                    before.push_back(pushed);
                    if (before.size() > 1) {
                      EXPECT_EQ(f.popped.size(), 1u) << "there was a batch";
                    }
                    f.left.insert(f.left.end(), f.popped.begin(), f.popped.end());
                    EXPECT_EQ(sorted(f.left), sorted(before));
                  });
}

TEST_F(InterruptedBatches, APopOfASingleBlockNeverTakesALargerBatch) {
  at_every_access([](batches& returned) { return returned.pop_single(); },
                  [](std::vector<std::size_t> before, std::size_t pushed, found f) {
                    for (const std::size_t length : f.popped) EXPECT_EQ(length, 1u);
                    before.push_back(pushed);
                    f.left.insert(f.left.end(), f.popped.begin(), f.popped.end());
                    EXPECT_EQ(sorted(f.left), sorted(before));
                  });
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

TEST(ReturnedLists, KeepBatchesOfSizesApartAndCountThemTogether) {
  returned_lists<3, true> returned;
  std::array<smallest_block, 3> blocks;
  EXPECT_EQ(returned.count(), 0);
  returned.push(0, batch::of(&blocks[0]));
  returned.push(2, batch::of(&blocks[1]));
  returned.push(2, batch::of(&blocks[2]));
  EXPECT_EQ(returned.count(), 3);
  EXPECT_FALSE(returned.pop(1));
  EXPECT_EQ(returned.count(), 3);
  EXPECT_EQ(static_cast<void*>(returned.pop(2).first), &blocks[2]);
  EXPECT_EQ(static_cast<void*>(returned.pop_single(2).first), &blocks[1]);
  EXPECT_EQ(static_cast<void*>(returned.pop(0).first), &blocks[0]);
  EXPECT_EQ(returned.count(), 0);
}

TEST(ReturnedLists, CanBeLookedThroughAndForgotten) {
  returned_lists<2, true> returned;
  std::array<smallest_block, 2> blocks;
  returned.push(1, batch::of(&blocks[0]));
  returned.push(1, batch::of(&blocks[1]));
  std::size_t found = 0;
  returned.for_each(1, [&](batch b) { return (found += b.count) != 0; });
  EXPECT_EQ(found, 2u);
  returned.for_each(0, [](batch) { return ADD_FAILURE(), true; });
  returned.clear();
  EXPECT_EQ(returned.count(), 0);
  EXPECT_FALSE(returned.pop(1));
}

// What counts nothing is as large as its lists.
static_assert(sizeof(returned_lists<4, false>) == 4 * sizeof(returned_batches));

}  // namespace
}  // namespace mallard
