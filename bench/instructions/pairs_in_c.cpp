// Pairs through mallard.h, as a program in C has them: calls into code that is compiled on its own.

#include "in_c.hpp"
#include "mallard.h"
#include "pairs.hpp"
#include "scenarios.hpp"

namespace instructions {

void pairs_in_c() {
  pairs<in_c>("best_fit", "C", MALLARD_BEST_FIT, 0u);
  pairs<in_c>("locked best_fit", "C", MALLARD_BEST_FIT, MALLARD_LOCKED);
}

}  // namespace instructions
