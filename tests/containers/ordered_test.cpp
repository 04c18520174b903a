// set, multiset, map and multimap over every heap: nodes of one size that can be taken out and put in.
#include <gtest/gtest.h>

#include <functional>
#include <iterator>
#include <map>
#include <set>

#include "containers/node_handles.hpp"
#include "containers/requirements.hpp"

namespace mallard::containers {
namespace {

struct set_kind {
  static constexpr bool moves_for_free = true;
  template <class T, class Memory>
  using of = std::set<T, std::less<>, typename Memory::template allocator<T>>;
  static void add(auto& c, int n) { c.emplace(n); }
  static void disturb(auto& c) {
    c.insert(additions.begin(), additions.end());
    c.emplace_hint(c.end(), additions.back() + 1);
    c.erase(c.begin(), std::next(c.begin(), 3));
    c = {1, 2, 3};
  }
};

struct multiset_kind : set_kind {
  template <class T, class Memory>
  using of = std::multiset<T, std::less<>, typename Memory::template allocator<T>>;
};

struct map_kind {
  static constexpr bool moves_for_free = true;
  template <class T, class Memory>
  using of = std::map<T, T, std::less<>, typename Memory::template allocator<std::pair<const T, T>>>;
  static void add(auto& c, int n) { c.emplace(n, -n); }
  static void disturb(auto& c) {
    for (const int n : additions) c.insert({n, n});
    c.emplace_hint(c.end(), additions.back() + 1, 1);
    c.erase(c.begin(), std::next(c.begin(), 3));
    c = {{1, 1}, {2, 2}, {3, 3}};
  }
};

struct multimap_kind : map_kind {
  template <class T, class Memory>
  using of = std::multimap<T, T, std::less<>, typename Memory::template allocator<std::pair<const T, T>>>;
};

const bool held = register_for_every_heap<checks_of<set_kind>::on>("set") &&
                  register_for_every_heap<checks_of<multiset_kind>::on>("multiset") &&
                  register_for_every_heap<checks_of<map_kind>::on>("map") &&
                  register_for_every_heap<checks_of<multimap_kind>::on>("multimap") &&
                  register_for_every_heap<node_handles_of<set_kind, multiset_kind>::on>("set_and_multiset") &&
                  register_for_every_heap<node_handles_of<map_kind, multimap_kind>::on>("map_and_multimap");

}  // namespace
}  // namespace mallard::containers
