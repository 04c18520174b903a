// vector and deque over every heap: blocks that grow.
#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "containers/requirements.hpp"

namespace mallard::containers {
namespace {

struct back {
  static void add(auto& c, int n) { c.emplace_back(n); }
  static void disturb(auto& c) {
    const auto middle = [&c] { return c.begin() + static_cast<std::ptrdiff_t>(c.size() / 2); };
    c.insert(middle(), additions.begin(), additions.end());
    c.insert(middle(), 3, additions.front());
    c.emplace(c.begin(), 1);
    c.erase(middle());
    c.resize(c.size() + 20, additions.back());
    c.shrink_to_fit();
    c.assign(additions.begin(), additions.end());
    c.push_back(c.front());
  }
};

struct vector_kind : back {
  static constexpr bool moves_for_free = true;
  template <class T, class Memory>
  using of = std::vector<T, typename Memory::template allocator<T>>;
};

struct deque_kind : back {
  template <class T, class Memory>
  using of = std::deque<T, typename Memory::template allocator<T>>;
  static constexpr bool moves_for_free = false;  // one that was moved from keeps a map of its own
};

const bool held = register_for_heaps_of_any_size<checks_of<vector_kind>::on>("vector") &&
                  register_for_heaps_of_any_size<checks_of<deque_kind>::on>("deque");

}  // namespace
}  // namespace mallard::containers
