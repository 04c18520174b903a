// Pairs and lives of the pools that give memory back, for one thread and for many.

#include <thread>

#include "lives.hpp"
#include "mallard/heap/adaptive_pool.hpp"
#include "mallard/heap/synchronized_adaptive_pool.hpp"
#include "pairs.hpp"
#include "scenarios.hpp"

namespace instructions {

void adaptive_pairs() {
  using enum mallard::harness::counted_with;
  pairs_of_group<adaptive_pools>();
  std::thread(pairs_of_group<adaptive_pools_many_threads>).join();
}

void lives_of_adaptive_pools() {
  lives_of<mallard::adaptive_pool>();
  lives_of<mallard::synchronized_adaptive_pool>();
  lives_of<mallard::shared_adaptive_pool>();
}

}  // namespace instructions
