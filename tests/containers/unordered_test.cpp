// unordered_set, _multiset, _map and _multimap over every heap: nodes, and an array of buckets that grows.
#include <gtest/gtest.h>

#include <functional>
#include <iterator>
#include <unordered_map>
#include <unordered_set>

#include "containers/node_handles.hpp"
#include "containers/requirements.hpp"

namespace mallard::containers {
namespace {

struct set_kind {
  static constexpr bool moves_for_free = true;
  template <class T, class Memory>
  using of = std::unordered_set<T, hash_of_element, std::equal_to<>, typename Memory::template allocator<T>>;
  static void add(auto& c, int n) { c.emplace(n); }
  static void disturb(auto& c) {
    c.reserve(100);
    c.insert(additions.begin(), additions.end());
    c.erase(c.begin(), std::next(c.begin(), 3));
    c.rehash(0);
    c = {1, 2, 3};
  }
};

struct multiset_kind : set_kind {
  template <class T, class Memory>
  using of =
      std::unordered_multiset<T, hash_of_element, std::equal_to<>, typename Memory::template allocator<T>>;
};

struct map_kind {
  static constexpr bool moves_for_free = true;
  template <class T, class Memory>
  using of = std::unordered_map<T, T, hash_of_element, std::equal_to<>,
                                typename Memory::template allocator<std::pair<const T, T>>>;
  static void add(auto& c, int n) { c.emplace(n, -n); }
  static void disturb(auto& c) {
    c.reserve(100);
    for (const int n : additions) c.insert({n, n});
    c.erase(c.begin(), std::next(c.begin(), 3));
    c.rehash(0);
    c = {{1, 1}, {2, 2}, {3, 3}};
  }
};

struct multimap_kind : map_kind {
  template <class T, class Memory>
  using of = std::unordered_multimap<T, T, hash_of_element, std::equal_to<>,
                                     typename Memory::template allocator<std::pair<const T, T>>>;
};

const bool held = register_for_heaps_of_any_size<checks_of<set_kind>::on>("unordered_set") &&
                  register_for_heaps_of_any_size<checks_of<multiset_kind>::on>("unordered_multiset") &&
                  register_for_heaps_of_any_size<checks_of<map_kind>::on>("unordered_map") &&
                  register_for_heaps_of_any_size<checks_of<multimap_kind>::on>("unordered_multimap") &&
                  register_for_heaps_of_any_size<node_handles_of<set_kind, multiset_kind>::on>(
                      "unordered_set_and_multiset") &&
                  register_for_heaps_of_any_size<node_handles_of<map_kind, multimap_kind>::on>(
                      "unordered_map_and_multimap");

}  // namespace
}  // namespace mallard::containers
