// Pairs of reaps: in heap mode, as each allocation follows a free.

#include "in_c.hpp"
#include "mallard.h"
#include "pairs.hpp"
#include "scenarios.hpp"

namespace instructions {

void reap_pairs() {
  pairs_of_group<mallard::harness::counted_with::reaps>();
  pairs<in_c>("reap", "C", MALLARD_REAP, 0u);
}

}  // namespace instructions
