#include "mallard/source/address_range.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstring>
#include <span>

namespace mallard {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t step = 65536;

class AddressRange : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(range_.open(std::size_t{1} << 34, step, step)); }
  void TearDown() override {
    range_.retract(range_.begin(), 8 * step);
    range_.close();
  }

  static bool is_mapped(void* p) { return ::msync(p, page, MS_ASYNC) == 0; }
  static bool is_zero(const std::byte* p, std::size_t bytes) {
    return std::ranges::all_of(std::span(p, bytes), [](std::byte b) { return b == std::byte{0}; });
  }

  address_range range_;
};

TEST_F(AddressRange, BeginsAtTheAlignmentAskedForAndIsAsLargeAsThat) {
  EXPECT_TRUE(is_aligned(range_.begin(), step));
  EXPECT_EQ(range_.size(), std::size_t{1} << 34);
}

TEST_F(AddressRange, IsZeroMemoryWhereItWasExtended) {
  std::byte* const at = range_.begin() + 3 * step;
  ASSERT_TRUE(range_.extend(at, step));
  EXPECT_TRUE(is_zero(at, step));
  std::memset(at, 1, step);
  range_.retract(at, step);
  ASSERT_TRUE(range_.extend(at, step));
  EXPECT_TRUE(is_zero(at, step)) << "memory that went back was not new when it came again";
}

TEST_F(AddressRange, PurgedPagesAreZeroAndStillThere) {
  std::byte* const at = range_.begin();
  ASSERT_TRUE(range_.extend(at, 2 * page));
  std::memset(at, 1, 2 * page);
  address_range::purge(at, page);
  EXPECT_TRUE(is_zero(at, page));
  EXPECT_EQ(at[page], std::byte{1});
}

// The system does not drop such pages.
TEST_F(AddressRange, PurgedPagesAreZeroWhereTheyAreLocked) {
  std::byte* const at = range_.begin();
  ASSERT_TRUE(range_.extend(at, 2 * page));
  std::memset(at, 1, 2 * page);
  if (::mlock(at, 2 * page) != 0) GTEST_SKIP() << "may lock no memory";
  address_range::purge(at, page);
  EXPECT_TRUE(is_zero(at, page));
  EXPECT_EQ(at[page], std::byte{1});
}

// A limit on addresses counts what is mapped, and so does a tool that shows it.
#if !MALLARD_ADDRESS_SANITIZED
TEST_F(AddressRange, MapsNothingButItsMemory) {
  ASSERT_TRUE(range_.extend(range_.begin(), step));
  EXPECT_TRUE(is_mapped(range_.begin()));
  EXPECT_FALSE(is_mapped(range_.begin() + step));
  range_.retract(range_.begin(), step);
  EXPECT_FALSE(is_mapped(range_.begin()));
}
#endif

TEST_F(AddressRange, LeavesAloneWhatSomebodyElseHasMapped) {
  std::byte* const at = range_.begin() + step;
  void* const other =
      ::mmap(at, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  ASSERT_EQ(other, at);
  std::memset(other, 7, page);
  EXPECT_FALSE(range_.extend(range_.begin(), 2 * step));
  EXPECT_TRUE(range_.is_taken());
  EXPECT_EQ(*at, std::byte{7});
  EXPECT_TRUE(range_.extend(range_.begin(), step));
  EXPECT_FALSE(range_.is_taken());
}

TEST_F(AddressRange, SaysWhenTheSystemHasNoMemory) {
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_DATA, &before), 0);
  const rlimit none{1, before.rlim_max};  // byte: 0 would be no limit
  ASSERT_EQ(::setrlimit(RLIMIT_DATA, &none), 0);
  const bool is_extended = range_.extend(range_.begin(), step);
  ASSERT_EQ(::setrlimit(RLIMIT_DATA, &before), 0);
  EXPECT_FALSE(is_extended);
  EXPECT_FALSE(range_.is_taken());
}

TEST_F(AddressRange, StandsBesideOthers) {
  address_range second;
  ASSERT_TRUE(range_.extend(range_.begin(), step));
  ASSERT_TRUE(second.open(std::size_t{1} << 34, step, step));
  EXPECT_TRUE(second.begin() >= range_.begin() + range_.size() ||
              second.begin() + second.size() <= range_.begin());
  second.close();
}

}  // namespace
}  // namespace mallard
