// Pairs of reaps: in heap mode, as each allocation follows a free.

#include "in_c.hpp"
#include "mallard.h"
#include "mallard/heap/reap.hpp"
#include "mallard/heap/sized_reap.hpp"
#include "pairs.hpp"
#include "scenarios.hpp"
#include "ways.hpp"

namespace instructions {

void reap_pairs() {
  pairs_of<mallard::reap>();
  pairs_of<mallard::sized_reap>();
  pairs<in_c>("reap", "C", MALLARD_REAP, 0u);
}

}  // namespace instructions
