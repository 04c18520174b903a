// list and forward_list over every heap: nodes of one size.
#include <gtest/gtest.h>

#include <forward_list>
#include <list>

#include "containers/kinds.hpp"
#include "containers/requirements.hpp"

namespace mallard::containers {
namespace {

struct list_kind : any_list {
  template <class T, class Memory>
  using of = std::list<T, typename Memory::template allocator<T>>;
};

struct forward_list_kind : any_forward_list {
  template <class T, class Memory>
  using of = std::forward_list<T, typename Memory::template allocator<T>>;
};

const bool held = register_for_every_heap<checks_of<list_kind>::on>("list") &&
                  register_for_every_heap<checks_of<forward_list_kind>::on>("forward_list");

}  // namespace
}  // namespace mallard::containers
