// Lives of regions: with a block, as all heaps', and empty ones, of which a program with regions makes many.

#include "lives.hpp"
#include "mallard/heap/region.hpp"
#include "mallard/heap/region_emulator.hpp"
#include "mallard/heap/stack_pattern.hpp"
#include "scenarios.hpp"

namespace instructions {

void lives_of_regions() {
  lives_of<mallard::region>();
  lives_of<mallard::stack_pattern>();
  lives<typed<mallard::region_emulator>>("region_emulator", "typed");
  roots<0, nothing>("life, empty", "none", "typed");
  empty_lives<mallard::region>("region");
  empty_lives<mallard::region_emulator>("region_emulator");
}

}  // namespace instructions
