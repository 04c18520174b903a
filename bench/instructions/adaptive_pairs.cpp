// Pairs of the pools that give memory back, for one thread and for many.

#include <thread>

#include "contestants.hpp"
#include "mallard/heap/adaptive_multipool.hpp"
#include "mallard/heap/adaptive_pool.hpp"
#include "mallard/heap/synchronized_adaptive_pool.hpp"
#include "scenarios.hpp"
#include "ways.hpp"

namespace instructions {

void adaptive_pairs() {
  pairs_of<mallard::adaptive_pool>();
  pairs_of<mallard::adaptive_multipool>();
  std::thread([] {
    pairs_of<mallard::synchronized_adaptive_pool>();
    pairs_of<mallard::shared_adaptive_pool>();
  }).join();
}

}  // namespace instructions
