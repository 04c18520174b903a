// Boost's vector, stable_vector and flat_map over v2_allocator: arrays that grow where they are.
#include <gtest/gtest.h>

#include <boost/container/flat_map.hpp>
#include <boost/container/stable_vector.hpp>
#include <boost/container/vector.hpp>
#include <functional>
#include <utility>

#include "containers/boost/memories.hpp"
#include "containers/kinds.hpp"
#include "containers/requirements.hpp"

namespace mallard::containers {
namespace {

struct back : any_vector {
  static constexpr bool moves_for_free = true;
};

struct vector_kind : back {
  template <class T, class Memory>
  using of = boost::container::vector<T, typename Memory::template allocator<T>>;
  static void disturb(auto& c) {
    back::disturb(c);
    for (int n = 0; n != 20; ++n) c.stable_emplace_back(n);  // unless it cannot expand
    c.stable_reserve(c.size() + 20);
  }
};

// It gives the node of an element that throws back, and puts it among its spare ones at the same time. Its
// end is treated as a node, and is not aligned as one.
struct stable_vector_kind : back {
  static constexpr int lost_by_a_throw = -1;
  static constexpr bool over_aligned = false;
  template <class T, class Memory>
  using of = boost::container::stable_vector<T, typename Memory::template allocator<T>>;
};

struct flat_map_kind {
  static constexpr bool moves_for_free = true;
  template <class T, class Memory>
  using of =
      boost::container::flat_map<T, T, std::less<>, typename Memory::template allocator<std::pair<T, T>>>;
  static void add(auto& c, int n) { c.emplace(n, -n); }
  static void disturb(auto& c) {
    for (const int n : additions) c.emplace(n, n);
    c.emplace_hint(c.end(), additions.back() + 1, 1);
    c.erase(c.begin(), std::next(c.begin(), 3));
    c.reserve(c.size() + 40);
    c.shrink_to_fit();
    const auto copy = c;
    c.clear();
    c.insert(copy.begin(), copy.end());
  }
};

const bool held = register_for_arrays<checks_of<vector_kind>::on>("vector") &&
                  register_for_arrays<checks_of<stable_vector_kind>::on>("stable_vector") &&
                  register_for_arrays<checks_of<flat_map_kind>::on>("flat_map");

}  // namespace
}  // namespace mallard::containers
