#include "mallard/resource/test_resource.hpp"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace mallard {
namespace {

static_assert(std::is_base_of_v<std::pmr::memory_resource, test_resource>);
static_assert(!std::is_copy_constructible_v<test_resource>);

constexpr const char* long_text = "a line that is too long for a small string";

class TestResource : public testing::Test {
 protected:
  TestResource() { memory_.on_mismatch(record, this); }

  static void record(const misuse_report& r, void* seen) {
    static_cast<TestResource*>(seen)->seen_.push_back(r.what);
  }

  std::vector<misuse> seen_;
  test_resource memory_{"orders"};
};

TEST_F(TestResource, CarriesContainersAndCountsWhatTheyTake) {
  {
    std::pmr::map<int, std::pmr::string> lines(&memory_);
    lines.emplace(1, long_text);
    lines.emplace(2, long_text);
    EXPECT_EQ(lines.at(1).get_allocator().resource(), &memory_);
    const heap_statistics found = memory_.statistics();
    EXPECT_EQ(found.requests, 4u);
    EXPECT_EQ(found.blocks, (counters{4, 4, 4}));
    EXPECT_GT(found.requested.live, 2 * std::string(long_text).size());
  }
  const heap_statistics found = memory_.statistics();
  EXPECT_EQ(found.blocks, (counters{0, 4, 4}));
  EXPECT_EQ(found.deallocations, 4u);
  EXPECT_EQ(found.failures, 0u);
  EXPECT_EQ(found.requested.live, 0u);
  EXPECT_EQ(memory_.mismatches(), 0u);
}

TEST_F(TestResource, FailsTheNthRequest) {
  std::pmr::vector<int> numbers(&memory_);
  memory_.fail_at(2);
  numbers.assign(4, 1);
  EXPECT_THROW(numbers.resize(100), std::bad_alloc);
  EXPECT_EQ(memory_.requests(), 2u);
  EXPECT_EQ(memory_.statistics().failures, 1u);
  numbers.resize(100);
  memory_.fail_from(1);
  EXPECT_THROW(numbers.resize(1000), std::bad_alloc);
  EXPECT_THROW(numbers.resize(1000), std::bad_alloc);
  memory_.fail_no_more();
  numbers.resize(1000);
}

TEST_F(TestResource, CountsEachKindOfMismatch) {
  auto* const p = static_cast<std::byte*>(memory_.allocate(40, 8));
  memory_.deallocate(p, 32, 8);
  memory_.deallocate(p, 40, 8);
  auto* const q = static_cast<std::byte*>(memory_.allocate(40, 8));
  q[40] = q[-1] = std::byte{0};
  EXPECT_EQ(memory_.report_damage(), 1u);
  memory_.deallocate(q, 40, 16);
  memory_.deallocate(&memory_, 40, 8);
  q[0] = std::byte{0};
  EXPECT_EQ(memory_.report_damage(), 1u);
  for (const misuse what :
       {misuse::wrong_size, misuse::double_free, misuse::written_before, misuse::written_behind,
        misuse::wrong_align, misuse::foreign_pointer, misuse::written_after_free})
    EXPECT_EQ(memory_.mismatches(what), 1u) << what_happened(what);
  EXPECT_EQ(memory_.mismatches(), 7u);
  EXPECT_EQ(seen_.size(), 7u);
  EXPECT_EQ(memory_.statistics().blocks, (counters{0, 1, 2}));
}

TEST_F(TestResource, ReportsLeaksAtItsEnd) {
  void* leaked = nullptr;
  std::optional<test_resource> ends;
  ends.emplace("ends");
  ends->on_mismatch(record, this);
  leaked = ends->allocate(10, 1);
  ends->deallocate(ends->allocate(20, 1), 20, 1);
  EXPECT_NE(leaked, nullptr);
  ends.reset();
  EXPECT_EQ(seen_, std::vector{misuse::leaked});
}

TEST_F(TestResource, TakesItsMemoryFromTheResourceBelow) {
  test_resource above("above", &memory_);
  void* const p = above.allocate(100, 8);
  EXPECT_EQ(memory_.statistics().blocks.live, 1u);
  EXPECT_GT(memory_.statistics().requested.live, 100u);
  above.deallocate(p, 100, 8);
  EXPECT_EQ(above.statistics().blocks.live, 0u);
}

TEST_F(TestResource, ThrowsWhenTheResourceBelowDoes) {
  test_resource above("above", &memory_);
  memory_.fail_at(1);
  EXPECT_THROW((void)above.allocate(100, 8), std::bad_alloc);
  EXPECT_EQ(above.statistics().failures, 1u);
}

TEST_F(TestResource, IsEqualToItselfOnlyAndHasAName) {
  const test_resource other;
  EXPECT_TRUE(memory_.is_equal(memory_));
  EXPECT_FALSE(memory_.is_equal(other));
  EXPECT_STREQ(memory_.name(), "orders");
  EXPECT_STREQ(other.name(), "test_resource");
}

TEST_F(TestResource, ServesThreadsAtOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([this] {
      std::pmr::vector<std::pmr::string> lines(&memory_);
      for (int i = 0; i < 200; ++i) lines.emplace_back(long_text);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(memory_.statistics().blocks.live, 0u);
  EXPECT_GT(memory_.statistics().blocks.total, 800u);
  EXPECT_EQ(memory_.mismatches(), 0u);
}

TEST(RecordingTestResource, PrintsAndGoesOn) {
  test_resource memory("orders");
  memory.record_mismatches();
  testing::internal::CaptureStderr();
  memory.deallocate(&memory, 8, 8);
  EXPECT_EQ(testing::internal::GetCapturedStderr().find("mallard: orders: deallocate of a foreign pointer"),
            0u);
  EXPECT_EQ(memory.mismatches(), 1u);
}

TEST_F(TestResource, ReportsDamageBeforeLeaksAtItsEnd) {
  struct told {
    std::vector<misuse> what;
    bool has_place = true;
  } seen;
  {
    test_resource ends("ends");
    ends.on_mismatch(
        [](const misuse_report& r, void* to) {
          static_cast<told*>(to)->what.push_back(r.what);
          if (r.now.empty()) static_cast<told*>(to)->has_place = false;
        },
        &seen);
    static_cast<std::byte*>(ends.allocate(10, 1))[10] = std::byte{0};
    void* const freed = ends.allocate(20, 1);
    ends.deallocate(freed, 20, 1);
    *static_cast<std::byte*>(freed) = std::byte{0};
  }
  EXPECT_EQ(seen.what, (std::vector{misuse::written_behind, misuse::written_after_free, misuse::leaked}));
  EXPECT_TRUE(seen.has_place);
}

TEST_F(TestResource, ReportsALeakOnce) {
  {
    test_resource ends("ends");
    ends.on_mismatch(record, this);
    (void)ends.allocate(10, 1);
    EXPECT_EQ(ends.report_leaks(0, {}), 1u);
    EXPECT_EQ(ends.mismatches(), 1u);
  }
  EXPECT_EQ(seen_, std::vector{misuse::leaked});
}

TEST(RecordingTestResource, PrintsSomeLeaksAndCountsAll) {
  testing::internal::CaptureStderr();
  {
    test_resource memory("orders");
    memory.record_mismatches();
    for (int i = 0; i < 100; ++i) (void)memory.allocate(10, 1);
    memory.report_leaks(0, {});
    EXPECT_EQ(memory.mismatches(misuse::leaked), 100u);
  }
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("block number 16\n"), std::string::npos);
  EXPECT_EQ(said.find("block number 17\n"), std::string::npos);
  EXPECT_NE(said.find("mallard: orders: further leaks are counted, not printed\n"), std::string::npos);
}

TEST(TestResourceDeathTest, AbortsAtAMismatchAndAtALeak) {
  test_resource memory("orders");
  EXPECT_DEATH(memory.deallocate(&memory, 8, 8), "mallard: orders: deallocate of a foreign pointer");
  const auto leak = [] {
    test_resource ends("ends");
    (void)ends.allocate(10, 1);
  };
  EXPECT_DEATH(
      leak(),
      "mallard: ends: leak: 10 bytes aligned to 1 .*\n(.*\n)*mallard: ends: blocks leaked: 1, bytes: 10");
}

}  // namespace
}  // namespace mallard
