// Memory for Boost's containers, and how checks are registered for all of it: v2_allocator over
//
//     best_fit      expands both ways, shrinks, allocates in bursts
//     backward      the same, with expansion forward disabled: vectors move down instead
//     multipool     bursts only: everything in place is answered by plain allocation
//     adaptive_multipool    the same, for nodes
//
// As memory.hpp, with a block_registry between container and heap, and a chunk_registry under the heap.
#pragma once

#include "containers/heaps.hpp"
#include "containers/memory.hpp"
#include "mallard/allocator/resize_objects.hpp"
#include "mallard/heap/adaptive_multipool.hpp"
#include "mallard/heap/best_fit.hpp"
#include "mallard/heap/multipool.hpp"

namespace mallard::containers {

using best_fit_memory = typed<basic_best_fit<model::source>, second_version<>>;
using multipool_memory = typed<basic_multipool<model::source>, second_version<>>;
using adaptive_memory = typed<basic_adaptive_multipool<model::source>, second_version<>>;

struct backward_memory : typed<basic_best_fit<model::source>, second_version<commands::expand_fwd>> {
  static constexpr bool elements_move_down = true;
};

// For what has nodes alone, which never expand.
template <template <class> class Checks>
bool register_for_nodes(const char* suite) {
  register_test(suite, "best_fit", [] { Checks<best_fit_memory>::all(); });
  register_test(suite, "multipool", [] { Checks<multipool_memory>::all(); });
  return true;
}

template <template <class> class Checks>
bool register_for_pooled_nodes(const char* suite) {
  register_test(suite, "adaptive_multipool", [] { Checks<adaptive_memory>::all(); });
  return register_for_nodes<Checks>(suite);
}

template <template <class> class Checks>
bool register_for_arrays(const char* suite) {
  register_test(suite, "backward", [] { Checks<backward_memory>::all(); });
  return register_for_nodes<Checks>(suite);
}

}  // namespace mallard::containers
