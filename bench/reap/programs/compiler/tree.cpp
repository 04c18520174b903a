#include "programs/compiler/tree.hpp"

#include "programs/memory/objects.hpp"

namespace mallard::programs {

void drop_trees(region& r, tree* first) noexcept {
  if (!region::frees) return;
  while (first != nullptr) {
    tree* const next = first->next;
    drop_trees(r, first->a);
    drop_trees(r, first->b);
    drop_trees(r, first->c);
    drop(r, first);
    first = next;
  }
}

}  // namespace mallard::programs
