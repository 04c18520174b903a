#include "mallard/source/memory_resource_source.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "mallard/core/concepts.hpp"

namespace mallard {
namespace {

static_assert(heap<memory_resource_source> && predictable<memory_resource_source>);

// Notes what it is asked for; gives nothing when `empty`.
class noting_resource : public std::pmr::memory_resource {
 public:
  struct request {
    std::size_t size, align;
    friend bool operator==(const request&, const request&) = default;
  };
  std::vector<request> allocated, deallocated;
  bool empty = false;

 private:
  void* do_allocate(std::size_t size, std::size_t align) override {
    if (empty) throw std::bad_alloc();
    allocated.push_back({size, align});
    return bytes_;
  }
  void do_deallocate(void* p, std::size_t size, std::size_t align) override {
    EXPECT_EQ(p, bytes_);
    deallocated.push_back({size, align});
  }
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
    return this == &other;
  }

  alignas(64) std::byte bytes_[256];
};

TEST(MemoryResourceSource, IsNewAndDeleteByDefault) {
  memory_resource_source source;
  EXPECT_EQ(source.resource(), std::pmr::new_delete_resource());
  const block b = source.allocate(100, 4096);
  ASSERT_TRUE(b);
  EXPECT_TRUE(is_aligned(b.data, 4096));
  source.deallocate(b.data, b.size, 4096);
}

TEST(MemoryResourceSource, GivesBackExactlyWhatItAskedFor) {
  noting_resource resource;
  memory_resource_source source(&resource);
  const block b = source.allocate(24, 16);
  EXPECT_EQ(b.size, 32u);
  EXPECT_EQ(source.received_size(24, 16), 32u);
  source.deallocate(b.data, 25, 16);
  const block zero = source.allocate(0, 1);
  EXPECT_EQ(zero.size, 1u);
  source.deallocate(zero.data, 0, 1);
  EXPECT_EQ(resource.allocated, (std::vector<noting_resource::request>{{32, 16}, {1, 1}}));
  EXPECT_EQ(resource.deallocated, resource.allocated);
}

TEST(MemoryResourceSource, AnswersBadAllocWithNull) {
  noting_resource resource;
  resource.empty = true;
  memory_resource_source source(&resource);
  EXPECT_EQ(source.allocate(8, 8), block{});
}

TEST(MemoryResourceSource, GetsAlignedBlocksFromPoolsThatAlignBySizeOnly) {
  std::pmr::unsynchronized_pool_resource pool;
  memory_resource_source source(&pool);
  for (std::size_t align = 1; align <= 64; align *= 2)
    for (std::size_t size = 1; size <= 256; ++size)
      for (int i = 0; i < 3; ++i) {
        const block b = source.allocate(size, align);
        ASSERT_EQ(address_of(b.data) % align, 0u) << size << " at " << align;
      }
}

TEST(MemoryResourceSource, RefusesSizesThatCannotBe) {
  memory_resource_source source;
  EXPECT_EQ(source.allocate(static_cast<std::size_t>(-1), 1), block{});
  EXPECT_EQ(source.allocate(max_request, 4096), block{});
  EXPECT_EQ(source.allocate(1, std::size_t{1} << 63), block{});
}

}  // namespace
}  // namespace mallard
