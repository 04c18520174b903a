#include "programs/interpreter/node.hpp"

#include "programs/memory/objects.hpp"

namespace mallard::programs {

void drop_nodes(region& r, node* first) noexcept {
  while (first != nullptr) {
    node* const next = first->next;
    drop_nodes(r, first->a);
    drop_nodes(r, first->b);
    drop_nodes(r, first->c);
    drop(r, first->constant);
    drop(r, first);
    first = next;
  }
}

}  // namespace mallard::programs
