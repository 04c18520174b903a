// vector and deque over every heap: blocks that grow.
#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "containers/kinds.hpp"
#include "containers/requirements.hpp"

namespace mallard::containers {
namespace {

struct vector_kind : any_vector {
  static constexpr bool moves_for_free = true;
  template <class T, class Memory>
  using of = std::vector<T, typename Memory::template allocator<T>>;
};

struct deque_kind : any_vector {
  template <class T, class Memory>
  using of = std::deque<T, typename Memory::template allocator<T>>;
  static constexpr bool moves_for_free = false;  // one that was moved from keeps a map of its own
};

const bool held = register_for_heaps_of_any_size<checks_of<vector_kind>::on>("vector") &&
                  register_for_heaps_of_any_size<checks_of<deque_kind>::on>("deque");

}  // namespace
}  // namespace mallard::containers
