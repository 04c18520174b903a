#include "mallard/core/concepts.hpp"

#include <gtest/gtest.h>

#include <concepts>
#include <cstddef>
#include <span>

#include "mallard/debug/guarded.hpp"
#include "mallard/heap/adaptive_multipool.hpp"
#include "mallard/heap/adaptive_pool.hpp"
#include "mallard/heap/best_fit.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/heap/obstack.hpp"
#include "mallard/heap/pool.hpp"
#include "mallard/heap/reap.hpp"
#include "mallard/heap/region.hpp"
#include "mallard/heap/region_emulator.hpp"
#include "mallard/heap/sized_reap.hpp"
#include "mallard/heap/stack_arena.hpp"
#include "mallard/heap/stack_pattern.hpp"
#include "mallard/heap/synchronized_best_fit.hpp"
#include "mallard/heap/synchronized_multipool.hpp"
#include "mallard/heap/synchronized_pool.hpp"
#include "mallard/heap/thread_multipool.hpp"
#include "mallard/layer/failing.hpp"
#include "mallard/layer/limited.hpp"
#include "mallard/layer/live_list.hpp"
#include "mallard/layer/locked.hpp"
#include "mallard/layer/stats.hpp"
#include "mallard/source/counting.hpp"

namespace mallard {

struct unnamed {};
struct users_own {};
template <>
inline constexpr std::string_view heap_name<users_own> = "users_own";

namespace {

// Each capability holds for a heap that has its members and for none that lacks one of them.

struct plain {
  block allocate(std::size_t, std::size_t) noexcept { return {}; }
  void deallocate(void*, std::size_t, std::size_t) noexcept {}
};

struct throwing {
  block allocate(std::size_t, std::size_t) { return {}; }
  void deallocate(void*, std::size_t, std::size_t) noexcept {}
};

struct pointer_only {
  void* allocate(std::size_t, std::size_t) noexcept { return nullptr; }
  void deallocate(void*, std::size_t, std::size_t) noexcept {}
};

struct able : plain {
  using upstream_type = plain;
  using mark_type = int;
  static constexpr resize_way ways = resize_way::expand_forward | resize_way::shrink;
  static constexpr bool is_concurrent = true;

  able() = default;
  able(able&, nesting) noexcept {}
  using plain::deallocate;
  void deallocate(void*) noexcept {}
  plain& upstream() noexcept { return upstream_; }
  void release() noexcept {}
  void clear() noexcept {}
  void flush() noexcept {}
  std::size_t trim(std::size_t) noexcept { return 0; }
  int mark() const noexcept { return 0; }
  void rewind(int) noexcept {}
  std::size_t usable_size(const void*) const noexcept { return 0; }
  std::size_t received_size(std::size_t, std::size_t) const noexcept { return 0; }
  bool owns(const void*) const noexcept { return false; }
  std::size_t block_size() const noexcept { return 8; }
  std::size_t block_align() const noexcept { return 8; }
  resize_result resize(const resize_request&) noexcept { return {}; }
  bool allocate_burst(chain&, std::size_t, std::size_t, std::size_t, std::size_t) noexcept { return false; }
  void deallocate_burst(chain&, std::size_t, std::size_t) noexcept {}
  bool allocate_burst(chain&, const std::size_t*, std::size_t, std::size_t, std::size_t,
                      std::size_t) noexcept {
    return false;
  }
  void deallocate_burst(chain&) noexcept {}
  able* parent() const noexcept { return nullptr; }
  bool ended() const noexcept { return false; }
  heap_usage usage() const noexcept { return {}; }
  violation validate() const noexcept { return {}; }
  std::size_t held() const noexcept { return 0; }
  std::size_t max_held() const noexcept { return 0; }

 private:
  plain upstream_;
};

struct only_copies : plain {
  using upstream_type = plain;
  using mark_type = int;
  static constexpr resize_way ways = resize_way::allocate_new;
  static constexpr bool is_concurrent = false;

  plain upstream() noexcept { return {}; }
  void clear() {}
  int mark() noexcept { return 0; }
  void rewind(int) noexcept {}
  bool owns(const void*) noexcept { return false; }
  resize_result resize(const resize_request&) noexcept { return {}; }
  heap_usage usage() noexcept { return {}; }
  violation validate() noexcept { return {}; }
};

TEST(Concepts, AHeapGivesBlocksAndNeverThrows) {
  EXPECT_TRUE(heap<plain>);
  EXPECT_FALSE(heap<throwing>);
  EXPECT_FALSE(heap<pointer_only>);
}

TEST(Concepts, EveryCapabilityIsFoundWhereItsMembersAre) {
  EXPECT_TRUE(layered<able>);
  EXPECT_TRUE(releasable<able> && clearable<able> && trimmable<able> && rewindable<able>);
  EXPECT_TRUE(freeable<able> && measurable<able> && predictable<able> && owning<able> && fixed_size<able>);
  EXPECT_TRUE(resizable<able> && expandable<able> && shrinkable<able>);
  EXPECT_TRUE(burst<able> && burst_of_sizes<able>);
  EXPECT_TRUE(nestable<able> && concurrent<able> && thread_caching<able>);
  EXPECT_TRUE(inspectable<able> && counted<able>);
}

// What keeps memory of an upstream of its own must not have one that ends first.
template <class Heap, class... Before>
constexpr bool owns_a_root =
    std::constructible_from<Heap, Before...> && !std::constructible_from<Heap, Before..., region&, nesting>;

static_assert(owns_a_root<stats<region>> && owns_a_root<failing<region>> && owns_a_root<limited<region>> &&
              owns_a_root<limited<region>, byte_limit> && owns_a_root<guarded<region>> &&
              owns_a_root<live_list<region>> && owns_a_root<locked<region>> && owns_a_root<counting<region>>);
static_assert(owns_a_root<basic_multipool<region>> && owns_a_root<basic_adaptive_multipool<region>> &&
              owns_a_root<basic_best_fit<region>> && owns_a_root<basic_pool<region>, int, int> &&
              owns_a_root<basic_adaptive_pool<region>, int, int> && owns_a_root<basic_monotonic<region>> &&
              owns_a_root<basic_monotonic<region>, std::span<std::byte>> &&
              owns_a_root<basic_stack_arena<64, region>> && owns_a_root<basic_stack_pattern<region>>);
static_assert(owns_a_root<basic_synchronized_multipool<region>> &&
              owns_a_root<basic_synchronized_best_fit<region>> &&
              owns_a_root<basic_synchronized_pool<region>, int, int> &&
              owns_a_root<basic_thread_multipool<region>>);
static_assert(owns_a_root<basic_region<region>> && owns_a_root<basic_reap<region>> &&
              owns_a_root<basic_sized_reap<region>> && owns_a_root<basic_region_emulator<region>>);

static_assert(nestable<region> && nestable<obstack> && nestable<reap> && nestable<sized_reap> &&
              nestable<region_emulator> && nestable<basic_region<region>>);

TEST(Concepts, NoCapabilityIsAssumedOfAPlainHeap) {
  EXPECT_FALSE(layered<plain>);
  EXPECT_FALSE(releasable<plain> || clearable<plain> || trimmable<plain> || rewindable<plain>);
  EXPECT_FALSE(freeable<plain> || measurable<plain> || predictable<plain> || owning<plain> ||
               fixed_size<plain>);
  EXPECT_FALSE(resizable<plain> || burst<plain> || burst_of_sizes<plain>);
  EXPECT_FALSE(nestable<plain> || concurrent<plain> || thread_caching<plain>);
  EXPECT_FALSE(inspectable<plain> || counted<plain>);
}

TEST(Concepts, MembersOfTheWrongFormDoNotCount) {
  EXPECT_FALSE(layered<only_copies>);     // by value
  EXPECT_FALSE(clearable<only_copies>);   // may throw
  EXPECT_FALSE(rewindable<only_copies>);  // mark is not const
  EXPECT_FALSE(owning<only_copies>);
  EXPECT_FALSE(inspectable<only_copies>);
  EXPECT_FALSE(concurrent<only_copies>);  // says no
  EXPECT_TRUE(resizable<only_copies>);
  EXPECT_FALSE(expandable<only_copies> || shrinkable<only_copies>);  // knows neither way
}

TEST(HeapName, IsThePlainNameOrTheStacking) {
  EXPECT_EQ(heap_name<adaptive_multipool>, "adaptive_multipool");
  EXPECT_EQ(heap_name<adaptive_pool>, "adaptive_pool");
  EXPECT_EQ(heap_name<best_fit>, "best_fit");
  EXPECT_EQ(heap_name<monotonic>, "monotonic");
  EXPECT_EQ(heap_name<multipool>, "multipool");
  EXPECT_EQ(heap_name<multipool_over_monotonic>, "multipool/monotonic");
}

TEST(HeapName, IsForOthersWhatTheySay) {
  EXPECT_TRUE(named<users_own>);
  EXPECT_FALSE(named<unnamed>);
}

}  // namespace
}  // namespace mallard
