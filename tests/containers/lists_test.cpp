// list and forward_list over every heap: nodes of one size.
#include <gtest/gtest.h>

#include <forward_list>
#include <iterator>
#include <list>
#include <type_traits>

#include "containers/requirements.hpp"

namespace mallard::containers {
namespace {

struct front {
  static constexpr bool moves_for_free = true;
  static void add(auto& c, int n) { c.emplace_front(n); }
};

struct list_kind : front {
  template <class T, class Memory>
  using of = std::list<T, typename Memory::template allocator<T>>;
  static void disturb(auto& c) {
    std::remove_reference_t<decltype(c)> added(additions.begin(), additions.end(), c.get_allocator());
    c.splice(c.begin(), added);
    c.insert(std::next(c.begin()), additions.begin(), additions.end());
    c.sort();
    c.resize(c.size() + 5, additions.back());
    c.unique();
    c.assign(additions.begin(), additions.end());
    added.emplace_back(5);
    c.merge(added);
  }
};

struct forward_list_kind : front {
  template <class T, class Memory>
  using of = std::forward_list<T, typename Memory::template allocator<T>>;
  static void disturb(auto& c) {
    std::remove_reference_t<decltype(c)> added(additions.begin(), additions.end(), c.get_allocator());
    c.splice_after(c.before_begin(), added);
    c.insert_after(c.begin(), additions.begin(), additions.end());
    c.sort();
    c.resize(5, additions.back());
    c.unique();
    c.assign(additions.begin(), additions.end());
    added.emplace_front(5);
    c.merge(added);
  }
};

const bool held = register_for_every_heap<checks_of<list_kind>::on>("list") &&
                  register_for_every_heap<checks_of<forward_list_kind>::on>("forward_list");

}  // namespace
}  // namespace mallard::containers
