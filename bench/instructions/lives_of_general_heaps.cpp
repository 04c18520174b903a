// Lives of the heaps that serve any size from the same memory. In a file of their own: how much of a heap the
// compiler inlines depends on what else the file has.

#include "lives.hpp"
#include "mallard/heap/best_fit.hpp"
#include "mallard/heap/synchronized_best_fit.hpp"
#include "scenarios.hpp"

namespace instructions {

void lives_of_general_heaps() {
  lives_of<mallard::best_fit>();
  lives_of<mallard::synchronized_best_fit>();
}

}  // namespace instructions
