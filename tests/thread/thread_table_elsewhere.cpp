// What code in another shared object, compiled to hide its symbols, sees of the process and does.
#include "thread/thread_table_elsewhere.hpp"

#include "mallard/core/attributes.hpp"

namespace mallard {

MALLARD_VISIBLE seen_elsewhere see_elsewhere() {
  return {&ends_mutex, &this_threads_table, thread_table::new_key()};
}

MALLARD_VISIBLE violation use_elsewhere(synchronized_multipool& heap) {
  for (const std::size_t size : {std::size_t{48}, std::size_t{200}, std::size_t{10000}})
    heap.deallocate(heap.allocate(size, 8).data, size, 8);
  return heap.validate();
}

}  // namespace mallard
