#include "mallard/resource/resource.hpp"

#include <gtest/gtest.h>

#include <list>
#include <map>
#include <memory_resource>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/source/fixed_buffer.hpp"

namespace mallard {
namespace {

static_assert(std::is_base_of_v<std::pmr::memory_resource, resource<monotonic>>);
static_assert(std::is_final_v<resource<monotonic>>);
static_assert(!std::is_copy_constructible_v<resource<monotonic>>);

template <class Heap>
class Resource : public testing::Test {
 protected:
  resource<Heap> resource_;
};

using heaps = testing::Types<monotonic, multipool, multipool_over_monotonic>;
TYPED_TEST_SUITE(Resource, heaps);

TYPED_TEST(Resource, CarriesStandardContainersThroughTheirLives) {
  std::pmr::memory_resource* const memory = &this->resource_;
  std::pmr::vector<int> numbers(memory);
  std::pmr::list<std::pmr::string> lines(memory);
  std::pmr::map<int, std::pmr::vector<std::pmr::string>> table(memory);
  std::pmr::unordered_map<std::pmr::string, int> index(memory);
  for (int i = 0; i < 2000; ++i) {
    numbers.push_back(i);
    const std::string text = "a line that is too long for a small string, number " + std::to_string(i);
    lines.emplace_back(text);
    table[i % 10].emplace_back(text);
    index.emplace(text, i);
    if (i % 3 == 0) lines.pop_front();
    if (i % 500 == 499) table.erase(i % 10);
  }
  EXPECT_EQ(numbers[1999], 1999);
  EXPECT_EQ(lines.back(), "a line that is too long for a small string, number 1999");
  EXPECT_EQ(lines.back().get_allocator().resource(), memory);
  EXPECT_EQ(index.at("a line that is too long for a small string, number 77"), 77);
  EXPECT_FALSE(table.contains(9));
  EXPECT_EQ(table.at(0).at(1), "a line that is too long for a small string, number 10");
  const std::pmr::vector<int> copy(numbers, memory);
  EXPECT_EQ(copy, numbers);
  const std::pmr::vector<int> moved(std::move(numbers));
  EXPECT_EQ(moved, copy);
  EXPECT_TRUE(this->resource_.heap().owns(moved.data()));
  EXPECT_FALSE(this->resource_.heap().validate());
}

TYPED_TEST(Resource, ThrowsBadAllocForWhatItsHeapRefuses) {
  std::pmr::memory_resource& memory = this->resource_;
  const volatile std::size_t huge =
      static_cast<std::size_t>(-1);  // volatile: compilers warn of what they see
  EXPECT_THROW((void)memory.allocate(huge, 8), std::bad_alloc);
  EXPECT_THROW((void)memory.allocate(max_request, 4096), std::bad_alloc);
}

TYPED_TEST(Resource, GivesTheAlignmentAskedFor) {
  std::pmr::memory_resource& memory = this->resource_;
  for (std::size_t align = 1; align <= 8192; align *= 2)
    for (const std::size_t size : {0u, 17u, 24u, 5000u}) {
      void* const p = memory.allocate(size, align);
      EXPECT_TRUE(is_aligned(p, align));
      memory.deallocate(p, size, align);
    }
}

TYPED_TEST(Resource, IsEqualToItselfOnly) {
  const resource<TypeParam> other;
  EXPECT_TRUE(this->resource_.is_equal(this->resource_));
  EXPECT_FALSE(this->resource_.is_equal(other));
  EXPECT_FALSE(this->resource_.is_equal(*std::pmr::new_delete_resource()));
}

TEST(ResourceOverABuffer, PassesArgumentsToItsHeapAndEndsWithBadAlloc) {
  alignas(16) std::byte bytes[1024];
  resource<basic_monotonic<fixed_buffer>> memory(bytes, sizeof bytes);
  std::pmr::vector<char> filled(&memory);
  EXPECT_THROW(filled.resize(2000), std::bad_alloc);
  filled.resize(900, 'x');
  EXPECT_EQ(filled.back(), 'x');
  EXPECT_THROW(filled.resize(1000), std::bad_alloc);
  EXPECT_EQ(filled.size(), 900u);
}

}  // namespace
}  // namespace mallard
