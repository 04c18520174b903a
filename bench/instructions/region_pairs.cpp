// Pairs of the heaps that end their blocks with a region, or are made for one pattern.

#include "contestants.hpp"
#include "mallard/heap/per_class.hpp"
#include "mallard/heap/region.hpp"
#include "mallard/heap/region_emulator.hpp"
#include "mallard/heap/stack_pattern.hpp"
#include "scenarios.hpp"
#include "ways.hpp"

namespace instructions {

void region_pairs() {
  pairs_of<mallard::region>();
  pairs_of<mallard::stack_pattern>();
  pairs_of<mallard::per_class>();
  // The malloc's part included, of which every block is one; none is freed before its region ends.
  pairs<typed<mallard::region_emulator>>("region_emulator", "typed");
}

}  // namespace instructions
