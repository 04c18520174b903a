// kinds: what the checks do to any list, any singly linked list and any vector, std's or Boost's.
//
//     struct list_kind : any_list { template <class T, class Memory> using of = std::list<...>; };
//
// disturb() does to a container what may allocate, free or move elements within it, a step of each; what only
// some containers of a kind can do is left out of the others.
#pragma once

#include <cstddef>
#include <iterator>
#include <type_traits>

#include "containers/requirements.hpp"

namespace mallard::containers {

struct front {
  static constexpr bool moves_for_free = true;
  static void add(auto& c, int n) { c.emplace_front(n); }
};

struct any_list : front {
  static void disturb(auto& c) {
    std::remove_reference_t<decltype(c)> added(additions.begin(), additions.end(), c.get_allocator());
    c.splice(c.begin(), added);
    c.insert(std::next(c.begin()), additions.begin(), additions.end());
    c.insert(c.end(), 5, additions.front());
    c.sort();
    c.resize(c.size() + 5, additions.back());
    c.erase(c.begin(), std::next(c.begin(), 3));
    c.unique();
    c.assign(additions.begin(), additions.end());
    added.emplace_back(5);
    c.merge(added);
  }
};

struct any_forward_list : front {
  static void disturb(auto& c) {
    std::remove_reference_t<decltype(c)> added(additions.begin(), additions.end(), c.get_allocator());
    c.splice_after(c.before_begin(), added);
    c.insert_after(c.begin(), additions.begin(), additions.end());
    c.sort();
    c.resize(5, additions.back());
    c.unique();
    c.erase_after(c.begin(), c.end());
    c.assign(additions.begin(), additions.end());
    added.emplace_front(5);
    c.merge(added);
  }
};

struct any_vector {
  static void add(auto& c, int n) { c.emplace_back(n); }
  static void disturb(auto& c) {
    const auto middle = [&c] { return c.begin() + static_cast<std::ptrdiff_t>(c.size() / 2); };
    c.insert(middle(), additions.begin(), additions.end());
    c.insert(middle(), 3, additions.front());
    c.emplace(c.begin(), 1);
    c.erase(middle());
    if constexpr (requires { c.reserve(1); }) c.reserve(c.size() + 40);
    c.resize(c.size() + 20, additions.back());
    c.shrink_to_fit();
    c.assign(additions.begin(), additions.end());
    c.shrink_to_fit();
    for (int n = 0; n != 20; ++n) c.push_back(c.front());
  }
};

}  // namespace mallard::containers
