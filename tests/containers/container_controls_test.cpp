// Controls: an allocator that breaks one of the rules is found out by the checks that hold for all heaps.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <list>
#include <type_traits>
#include <vector>

#include "containers/requirements.hpp"

namespace mallard::containers {
namespace {

using heap_type = watched<basic_multipool<model::source>>;

// The library's allocator, but for what a derived class does worse.
template <class T, template <class> class Broken>
struct breakable : mallard::allocator<T, heap_type> {
  using base = mallard::allocator<T, heap_type>;
  template <class U>
  struct rebind {
    using other = Broken<U>;
  };
  breakable(heap_type& heap) : base(heap) {}  // NOLINT(google-explicit-constructor): as the base
  template <class U>
  breakable(const Broken<U>& other)
      : base(other.heap()) {}  // NOLINT(google-explicit-constructor): as the base
};

template <class T>
struct sound : breakable<T, sound> {
  using breakable<T, sound>::breakable;
};

template <class T>
struct forgetful : breakable<T, forgetful> {
  using breakable<T, forgetful>::breakable;
  void deallocate(T*, std::size_t) noexcept {}
};

template <class T>
struct careless_of_sizes : breakable<T, careless_of_sizes> {
  using breakable<T, careless_of_sizes>::breakable;
  void deallocate(T* p, std::size_t) noexcept { this->heap().deallocate(p, 1, alignof(T)); }
};

template <class T>
struct careless_of_alignment : breakable<T, careless_of_alignment> {
  using breakable<T, careless_of_alignment>::breakable;
  void deallocate(T* p, std::size_t n) noexcept { this->heap().deallocate(p, n * sizeof(T), 2 * alignof(T)); }
};

template <class T>
struct wandering : breakable<T, wandering> {
  using breakable<T, wandering>::breakable;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_copy_assignment = std::true_type;
};

template <class T>
struct equal_to_all : breakable<T, equal_to_all> {
  using breakable<T, equal_to_all>::breakable;
  friend bool operator==(const equal_to_all&, const equal_to_all&) { return true; }
};

template <template <class> class Allocator>
class memory_by {
 public:
  static constexpr bool copies_stay = true;
  template <class T>
  using allocator = Allocator<T>;

  [[nodiscard]] allocator<std::byte> get() noexcept { return heap_; }
  [[nodiscard]] block_registry& blocks() noexcept { return heap_.blocks(); }
  void fail_source_from(std::size_t n) { model::source_of(heap_.upstream()).fail_from(n); }

 private:
  model::chunk_registry registry_;
  heap_type heap_;
};

struct list_kind {
  static constexpr bool moves_for_free = true;
  template <class T, class Memory>
  using of = std::list<T, typename Memory::template allocator<T>>;
  static void add(auto& c, int n) { c.emplace_back(n); }
  static void disturb(auto& c) { c.sort(); }
};

// How many failures the checks report, none of which is this test's.
template <template <class> class Allocator>
int failures() {
  testing::TestPartResultArray found;
  {
    const testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &found);
    requirements<list_kind, memory_by<Allocator>>::all();
  }
  return found.size();
}

TEST(ContainerControls, ASoundAllocatorPasses) { EXPECT_EQ(failures<sound>(), 0); }

TEST(ContainerControls, BlocksNeverGivenBackAreFound) { EXPECT_GT(failures<forgetful>(), 0); }

TEST(ContainerControls, BlocksGivenBackWithAnotherSizeAreFound) {
  EXPECT_GT(failures<careless_of_sizes>(), 0);
}

TEST(ContainerControls, BlocksGivenBackWithAnotherAlignmentAreFound) {
  EXPECT_GT(failures<careless_of_alignment>(), 0);
}

TEST(ContainerControls, AllocatorsThatWanderOnAssignmentAreFound) { EXPECT_GT(failures<wandering>(), 0); }

TEST(ContainerControls, AllocatorsThatTakeOtherHeapsForTheirsAreFound) {
  EXPECT_GT(failures<equal_to_all>(), 0);
}

}  // namespace
}  // namespace mallard::containers
