// Pairs of the heaps for many threads that serve any size from the same memory, on a thread of their own, and
// lives of these heaps. In a file of their own: how much of a heap the compiler inlines depends on what else
// the file has.

#include <thread>

#include "lives.hpp"
#include "mallard/heap/best_fit.hpp"
#include "mallard/heap/synchronized_best_fit.hpp"
#include "pairs.hpp"
#include "scenarios.hpp"

namespace instructions {

void synchronised_general_pairs() {
  std::thread([] { pairs_of_group<mallard::harness::counted_with::general_many_threads>(); }).join();
}

void lives_of_general_heaps() {
  lives_of<mallard::best_fit>();
  lives_of<mallard::synchronized_best_fit>();
}

}  // namespace instructions
