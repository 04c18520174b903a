// Lives of the pools that give memory back. In a file of their own, as those of general heaps.

#include "lives.hpp"
#include "mallard/heap/adaptive_pool.hpp"
#include "mallard/heap/synchronized_adaptive_pool.hpp"
#include "scenarios.hpp"

namespace instructions {

void lives_of_adaptive_pools() {
  lives_of<mallard::adaptive_pool>();
  lives_of<mallard::synchronized_adaptive_pool>();
  lives_of<mallard::shared_adaptive_pool>();
}

}  // namespace instructions
