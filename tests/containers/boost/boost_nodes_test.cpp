// Boost's list, slist, set, map and multimap over v2_allocator: nodes, alone and in bursts.
#include <gtest/gtest.h>

#include <boost/container/detail/multiallocation_chain.hpp>
#include <boost/container/list.hpp>
#include <boost/container/map.hpp>
#include <boost/container/set.hpp>
#include <boost/container/slist.hpp>
#include <boost/version.hpp>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include "containers/boost/memories.hpp"
#include "containers/kinds.hpp"
#include "containers/requirements.hpp"

namespace mallard::containers {
namespace {

// What Boost 1.81 loses of a range when one of its elements throws: the node of that element.
constexpr int lost_of_a_range = BOOST_VERSION >= 108100 ? 1 : 0;

struct list_kind : any_list {
  static constexpr int lost_by_a_throw = lost_of_a_range;
  template <class T, class Memory>
  using of = boost::container::list<T, typename Memory::template allocator<T>>;
};

struct slist_kind : any_forward_list {
  static constexpr int lost_by_a_throw = lost_of_a_range;
  template <class T, class Memory>
  using of = boost::container::slist<T, typename Memory::template allocator<T>>;
};

struct set_kind {
  static constexpr bool moves_for_free = true;
  template <class T, class Memory>
  using of = boost::container::set<T, std::less<>, typename Memory::template allocator<T>>;
  static void add(auto& c, int n) { c.emplace(n); }
  static void disturb(auto& c) {
    c.insert(additions.begin(), additions.end());
    c.emplace_hint(c.end(), additions.back() + 1);
    c.erase(c.begin(), std::next(c.begin(), 3));
    c.erase(additions.back());
    c = {1, 2, 3};
  }
};

struct map_kind {
  static constexpr bool moves_for_free = true;
  template <class T, class Memory>
  using of =
      boost::container::map<T, T, std::less<>, typename Memory::template allocator<std::pair<const T, T>>>;
  static void add(auto& c, int n) { c.emplace(n, -n); }
  static void disturb(auto& c) {
    for (const int n : additions) c.emplace(n, n);
    c.emplace_hint(c.end(), additions.back() + 1, 1);
    c.erase(c.begin(), std::next(c.begin(), 3));
    c.erase(additions.back());
    const auto copy = c;
    c.clear();
    c.insert(copy.begin(), copy.end());
  }
};

struct multimap_kind : map_kind {
  template <class T, class Memory>
  using of = boost::container::multimap<T, T, std::less<>,
                                        typename Memory::template allocator<std::pair<const T, T>>>;
};

// Version 2 with Boost's own chains, one node after the other.
template <class T, class Heap>
struct with_chains_of_boost : v2_allocator<T, Heap> {
  using multiallocation_chain = boost::container::dtl::transform_multiallocation_chain<
      boost::container::dtl::basic_multiallocation_chain<void*>, T>;
  template <class U>
  struct rebind {
    using other = with_chains_of_boost<U, Heap>;
  };
  with_chains_of_boost(Heap& heap) : v2_allocator<T, Heap>(heap) {}  // NOLINT(google-explicit-constructor)
  template <class U>
  with_chains_of_boost(const with_chains_of_boost<U, Heap>& other)  // NOLINT(google-explicit-constructor)
      : v2_allocator<T, Heap>(other) {}

  void allocate_individual(std::size_t count, multiallocation_chain& out) {
    for (; count != 0; --count) out.push_front(this->allocate_one());
  }
  void deallocate_individual(multiallocation_chain& ended) {
    while (!ended.empty()) this->deallocate_one(ended.pop_front());
  }
};
struct chains_of_boost {
  template <class T, class Heap>
  using of = with_chains_of_boost<T, Heap>;
};

template <class Memory>
int lost_by_a_range_that_throws() {
  Memory memory;
  {
    boost::container::list<element, typename Memory::template allocator<element>> list(memory.get());
    const std::vector<element> range(additions.begin(), additions.end());
    element::fail_at(2);
    EXPECT_THROW(list.insert(list.end(), range.begin(), range.end()), element_failed);
    element::fail_at(0);
  }
  return memory.end_what_is_lost();
}

TEST(ARangeThatThrows, LosesWhatItLosesWithChainsOfBoost) {
  EXPECT_EQ(lost_by_a_range_that_throws<best_fit_memory>(), lost_of_a_range);
  EXPECT_EQ((lost_by_a_range_that_throws<typed<basic_best_fit<model::source>, chains_of_boost>>()),
            lost_of_a_range);
}

const bool held = register_for_pooled_nodes<checks_of<list_kind>::on>("list") &&
                  register_for_nodes<checks_of<slist_kind>::on>("slist") &&
                  register_for_pooled_nodes<checks_of<set_kind>::on>("set") &&
                  register_for_pooled_nodes<checks_of<map_kind>::on>("map") &&
                  register_for_nodes<checks_of<multimap_kind>::on>("multimap");

}  // namespace
}  // namespace mallard::containers
