// Pairs of the library's heaps for one thread, and the floor of all pairs.

#include "contestants.hpp"
#include "mallard/heap/best_fit.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/heap/pool.hpp"
#include "mallard/heap/stack_arena.hpp"
#include "scenarios.hpp"
#include "ways.hpp"

namespace instructions {

void own_pairs() {
  typed_pairs<none>("none");
  pairs_of<mallard::monotonic>();
  pairs_of<mallard::stack_arena<4096>>();
  pairs_of<mallard::multipool>();
  pairs_of<mallard::pool>();
  pairs_of<mallard::multipool_over_monotonic>();
  pairs_of<mallard::best_fit>();
}

}  // namespace instructions
