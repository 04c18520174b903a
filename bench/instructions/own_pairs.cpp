// Pairs of the library's heaps for one thread, and the baseline of all pairs.

#include "bindings.hpp"
#include "pairs.hpp"
#include "scenarios.hpp"

namespace instructions {

void own_pairs() {
  typed_pairs<none>("none");
  pairs_of_group<mallard::harness::counted_with::one_thread>();
}

}  // namespace instructions
