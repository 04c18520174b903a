// Controls: a version-2 allocator that breaks one of the rules is found out by the checks of Boost's
// containers. And what Boost.Container says of its protocol is what is said of it here.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <boost/container/detail/allocation_type.hpp>
#include <boost/container/detail/version_type.hpp>
#include <boost/container/list.hpp>
#include <boost/container/vector.hpp>
#include <boost/version.hpp>
#include <cstddef>
#include <exception>
#include <new>
#include <type_traits>

#include "containers/boost/memories.hpp"
#include "containers/requirements.hpp"
#include "mallard/allocator/allocator.hpp"
#include "mallard/allocator/resize_objects.hpp"
#include "mallard/allocator/v2_allocator.hpp"
#include "mallard/heap/multipool.hpp"

namespace mallard::containers {
namespace {

// The library's allocator, but for what a derived class does worse.
template <class T, class Heap, template <class, class> class Broken>
struct breakable : v2_allocator<T, Heap> {
  using base = v2_allocator<T, Heap>;
  using pointer = T*;
  template <class U>
  struct rebind {
    using other = Broken<U, Heap>;
  };
  breakable(Heap& heap) : base(heap) {}  // NOLINT(google-explicit-constructor): as the base
  template <class U>
  breakable(const Broken<U, Heap>& other)
      : base(other) {}  // NOLINT(google-explicit-constructor): as the base
};

template <class T, class Heap>
struct sound : breakable<T, Heap, sound> {
  using breakable<T, Heap, sound>::breakable;
};

// --- arrays -------------------------------------------------------------------------------------

template <class T, class Heap>
struct new_as_if_expanded : breakable<T, Heap, new_as_if_expanded> {
  using breakable<T, Heap, new_as_if_expanded>::breakable;
  T* allocation_command(allocation_type command, std::size_t limit, std::size_t& size, T*& reuse) {
    T* const old = reuse;
    T* const p = v2_allocator<T, Heap>::allocation_command(command, limit, size, reuse);
    if ((command & commands::expand_bwd) != 0) reuse = old;
    return p;
  }
};

template <class T, class Heap>
struct throws_unasked : breakable<T, Heap, throws_unasked> {
  using breakable<T, Heap, throws_unasked>::breakable;
  T* allocation_command(allocation_type command, std::size_t limit, std::size_t& size, T*& reuse) {
    T* const p = v2_allocator<T, Heap>::allocation_command(command, limit, size, reuse);
    if (p == nullptr) throw std::bad_alloc();
    return p;
  }
};

// --- nodes --------------------------------------------------------------------------------------

template <class T, class Heap>
struct forgets_bursts : breakable<T, Heap, forgets_bursts> {
  using breakable<T, Heap, forgets_bursts>::breakable;
  void deallocate_individual(multiallocation_chain<T>& ended) noexcept { ended.clear(); }
};

template <class T, class Heap>
struct ends_all_but_one : breakable<T, Heap, ends_all_but_one> {
  using breakable<T, Heap, ends_all_but_one>::breakable;
  void deallocate_individual(multiallocation_chain<T>& ended) noexcept {
    if (ended.size() > 1) ended.pop_front();
    v2_allocator<T, Heap>::deallocate_individual(ended);
  }
};

template <class T, class Heap>
struct larger_nodes : breakable<T, Heap, larger_nodes> {
  using breakable<T, Heap, larger_nodes>::breakable;
  T* allocate_one() { return this->allocate(1000); }
};

template <template <class, class> class Broken>
struct by {
  template <class T, class Heap>
  using of = Broken<T, Heap>;
};

struct vector_kind {
  static constexpr bool moves_for_free = true;
  template <class T, class Memory>
  using of = boost::container::vector<T, typename Memory::template allocator<T>>;
  static void add(auto& c, int n) { c.emplace_back(n); }
  static void disturb(auto& c) {
    for (int n = 0; n != 20; ++n) c.stable_emplace_back(n);
  }
};

struct list_kind {
  static constexpr bool moves_for_free = true;
  static constexpr int lost_by_a_throw = BOOST_VERSION >= 108100 ? 1 : 0;  // see boost_nodes_test.cpp
  template <class T, class Memory>
  using of = boost::container::list<T, typename Memory::template allocator<T>>;
  static void add(auto& c, int n) { c.emplace_back(n); }
  static void disturb(auto& c) { c.sort(); }
};

// How many failures the checks report, none of which is this test's.
template <class Kind, template <class, class> class Allocator>
int failures() {
  testing::TestPartResultArray found;
  int thrown = 0;
  {
    const testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &found);
    try {
      requirements<Kind, typed<basic_multipool<model::source>, by<Allocator>>>::all();
    } catch (const std::exception&) {
      thrown = 1;
      element::fail_at(0);
    }
  }
  return found.size() + thrown;
}

TEST(BoostControls, SoundAllocatorsPass) {
  EXPECT_EQ((failures<vector_kind, sound>()), 0);
  EXPECT_EQ((failures<list_kind, sound>()), 0);
}

TEST(BoostControls, ANewBlockThatIsCalledAnExpansionIsFound) {
  EXPECT_GT((failures<vector_kind, new_as_if_expanded>()), 0);
}

TEST(BoostControls, AnExceptionWhereNullWasExpectedIsFound) {
  EXPECT_GT((failures<vector_kind, throws_unasked>()), 0);
}

TEST(BoostControls, BurstsNeverGivenBackAreFound) { EXPECT_GT((failures<list_kind, forgets_bursts>()), 0); }

TEST(BoostControls, ANodeMissingInABurstThatIsGivenBackIsFound) {
  EXPECT_GT((failures<list_kind, ends_all_but_one>()), 0);
}

TEST(BoostControls, NodesOfAnotherSizeThanOneObjectAreFound) {
  EXPECT_GT((failures<list_kind, larger_nodes>()), 0);
}

namespace its = boost::container;

static_assert(std::is_same_v<allocation_type, its::allocation_type>);
static_assert(commands::allocate_new == its::allocate_new);
static_assert(commands::expand_fwd == its::expand_fwd);
static_assert(commands::expand_bwd == its::expand_bwd);
static_assert(commands::shrink_in_place == its::shrink_in_place);
static_assert(commands::try_shrink_in_place == its::try_shrink_in_place);
static_assert(commands::nothrow_allocation == its::nothrow_allocation);

static_assert(its::dtl::version<v2_allocator<int, multipool>>::value == 2);
static_assert(its::dtl::version<allocator<int, multipool>>::value == 1);

TEST(BoostProtocol, IsThatOfTheBoostThatThisTestIsNamedFor) { EXPECT_EQ(MALLARD_BOOST, BOOST_VERSION / 100); }

}  // namespace
}  // namespace mallard::containers
