// Pairs of the heaps for many threads that serve any size from the same memory, on a thread of their own. In
// a file of their own: how much of a heap the compiler inlines depends on what else the file has.

#include <thread>

#include "pairs.hpp"
#include "scenarios.hpp"

namespace instructions {

void synchronised_general_pairs() {
  std::thread([] { pairs_of_group<mallard::harness::counted_with::general_many_threads>(); }).join();
}

}  // namespace instructions
