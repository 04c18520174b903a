// Pairs of the heaps that end their blocks with a region, or are made for one pattern; those of reaps are in
// heap mode, as each allocation follows a free.

#include "bindings.hpp"
#include "mallard.h"
#include "mallard/heap/region_emulator.hpp"
#include "pairs.hpp"
#include "scenarios.hpp"

namespace instructions {

void region_pairs() {
  pairs_of_group<mallard::harness::counted_with::regions>();
  // The malloc's part included, of which every block is one; none is freed before its region ends.
  pairs<typed<mallard::region_emulator>>("region_emulator", "typed");
}

void reap_pairs() {
  pairs_of_group<mallard::harness::counted_with::reaps>();
  pairs<in_c>("reap", "C", MALLARD_REAP, 0u);
}

}  // namespace instructions
