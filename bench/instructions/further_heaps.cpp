// Pairs and lives of the heaps that are counted in no group. Behind all others, and in a file of their own: a
// new heap leaves the counts of all others as they are.

#include "harness/allocator/own_heaps.hpp"
#include "lives.hpp"
#include "pairs.hpp"
#include "scenarios.hpp"

namespace instructions {

void further_heaps() {
  mallard::harness::for_each_own_heap([]<class Line>(Line) {
    if constexpr (Line::group == mallard::harness::counted_with::alone) {
      pairs_of<typename Line::type>();
      lives_of<typename Line::type>();
    }
  });
}

}  // namespace instructions
