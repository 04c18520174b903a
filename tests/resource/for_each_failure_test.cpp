#include "mallard/resource/for_each_failure.hpp"

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "mallard/allocator/allocator.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/layer/failing.hpp"

namespace mallard {
namespace {

constexpr const char* long_text = "a line that is too long for a small string";

class ForEachFailure : public testing::Test {
 protected:
  ForEachFailure() {
    memory_.on_mismatch(
        [](const misuse_report& r, void* seen) {
          static_cast<ForEachFailure*>(seen)->seen_.emplace_back(std::string(what_happened(r.what)) + " " +
                                                                 (r.when == nullptr ? "" : r.when));
        },
        this);
  }

  std::vector<std::string> seen_;
  test_resource memory_;
};

TEST_F(ForEachFailure, WalksThroughContainersThatKeepTheirPromise) {
  const std::size_t failures = for_each_failure(memory_, [this] {
    std::pmr::map<int, std::pmr::vector<std::pmr::string>> table(&memory_);
    for (int i = 0; i < 3; ++i) table[i].emplace_back(long_text);
    table.erase(1);
    std::pmr::vector<int> numbers(&memory_);
    for (int i = 0; i < 10; ++i) {
      const std::pmr::vector<int> before(numbers, &memory_);
      try {
        numbers.push_back(i);
      } catch (const std::bad_alloc&) {
        EXPECT_EQ(numbers, before) << "the strong guarantee";
        throw;
      }
    }
  });
  EXPECT_GT(failures, 3u * 3u);
  EXPECT_EQ(memory_.statistics().failures, failures);
  EXPECT_TRUE(seen_.empty());
}

TEST_F(ForEachFailure, CountsTheRequestsOfARunAndRunsOnceMore) {
  int runs = 0;
  const auto body = [&] {
    ++runs;
    std::pmr::vector<int> numbers(&memory_);
    numbers.reserve(1);
    numbers.reserve(2);
  };
  EXPECT_EQ(for_each_failure(memory_, body), 2u);
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(for_each_failure(memory_, [] {}), 0u);
}

TEST_F(ForEachFailure, FindsTheLeakOnTheOneWayOutThatHasIt) {
  std::vector<void*> leaked;
  const auto body = [&] {
    void* const first = memory_.allocate(10, 1);
    leaked.push_back(first);
    void* const second = memory_.allocate(20, 1);  // when this fails, the first is lost
    memory_.deallocate(second, 20, 1);
    memory_.deallocate(first, 10, 1);
    leaked.pop_back();
  };
  EXPECT_EQ(for_each_failure(memory_, body), 2u);
  EXPECT_EQ(seen_, std::vector<std::string>{"leak after request 2 failed"});
  ASSERT_EQ(leaked.size(), 1u);
  memory_.deallocate(leaked[0], 10, 1);
}

TEST_F(ForEachFailure, SeesAWriteBesideABlock) {
  const auto body = [&] {
    auto* const p = static_cast<char*>(memory_.allocate(10, 1));
    p[10] = 0;
    memory_.deallocate(p, 10, 1);
  };
  EXPECT_EQ(for_each_failure(memory_, body), 1u);
  EXPECT_EQ(seen_, std::vector<std::string>{"a write behind a block "});
}

TEST_F(ForEachFailure, SeesAWriteBesideABlockThatLivesOn) {
  auto* const p = static_cast<char*>(memory_.allocate(10, 1));
  EXPECT_EQ(for_each_failure(memory_, [p] { p[-1] = 0; }), 0u);
  EXPECT_EQ(seen_, std::vector<std::string>{"a write in front of a block "});
  memory_.deallocate(p, 10, 1);
}

TEST_F(ForEachFailure, GoesOnWhereTheBodyDealsWithAFailure) {
  int served_without = 0;
  const auto body = [&] {
    try {
      std::pmr::vector<int>(10, &memory_);
    } catch (const std::bad_alloc&) {
      ++served_without;
    }
    std::pmr::vector<int>(20, &memory_);
  };
  EXPECT_EQ(for_each_failure(memory_, body), 2u);
  EXPECT_EQ(served_without, 1);
}

TEST_F(ForEachFailure, LetsOtherExceptionsOutAndArmsNothingAfterwards) {
  EXPECT_THROW(for_each_failure(memory_, [] { throw std::runtime_error("other"); }), std::runtime_error);
  EXPECT_THROW(for_each_failure(memory_, [] { throw std::bad_alloc(); }), std::bad_alloc);
  memory_.deallocate(memory_.allocate(10, 1), 10, 1);
}

TEST_F(ForEachFailure, TakesAnyHeapThatCanFail) {
  failing<multipool> heap;
  const auto body = [&] {
    std::vector<int, allocator<int, failing<multipool>>> numbers(heap);
    numbers.push_back(1);
    numbers.push_back(2);
  };
  EXPECT_EQ(for_each_failure(heap, body), 2u);
}

TEST_F(ForEachFailure, TakesAResourceOfSuchAHeap) {
  resource<failing<multipool>> memory;
  const std::size_t failures = for_each_failure(memory, [&] {
    std::pmr::vector<int> numbers(&memory);
    numbers.assign(4, 1);
    numbers.resize(100);
  });
  EXPECT_EQ(failures, 2u);
}

TEST(ForEachFailureDeathTest, AbortsAtALeakAndSaysWhichRequestFailed) {
  test_resource memory("orders");
  const auto body = [&] {
    void* const first = memory.allocate(10, 1);
    memory.deallocate(memory.allocate(20, 1), 20, 1);
    memory.deallocate(first, 10, 1);
  };
  EXPECT_DEATH(for_each_failure(memory, body),
               "mallard: orders: leak: 10 bytes .*\n    after request 2 failed\n");
}

}  // namespace
}  // namespace mallard
