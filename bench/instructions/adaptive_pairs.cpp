// Pairs of the pools that give memory back, for one thread and for many.

#include <thread>

#include "pairs.hpp"
#include "scenarios.hpp"

namespace instructions {

void adaptive_pairs() {
  using enum mallard::harness::counted_with;
  pairs_of_group<adaptive_pools>();
  std::thread(pairs_of_group<adaptive_pools_many_threads>).join();
}

}  // namespace instructions
