// Pairs of the library's heaps for one thread, and the floor of all pairs.

#include "contestants.hpp"
#include "scenarios.hpp"
#include "ways.hpp"

namespace instructions {

void own_pairs() {
  typed_pairs<none>("none");
  pairs_of_group<mallard::harness::counted_with::one_thread>();
}

}  // namespace instructions
