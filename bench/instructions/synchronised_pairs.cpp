// Pairs of heaps for many threads, on a thread of their own that no other disturbs.

#include <boost/container/pmr/synchronized_pool_resource.hpp>
#include <memory_resource>
#include <thread>

#include "bindings.hpp"
#include "pairs.hpp"
#include "scenarios.hpp"

namespace instructions {

void synchronised_pairs() {
  std::thread([] {
    pairs_of_group<mallard::harness::counted_with::many_threads>();
    pairs<virtually<std::pmr::synchronized_pool_resource>>("std.sync_pool", "pmr");
    pairs<virtually<boost::container::pmr::synchronized_pool_resource>>("boost.sync_pool", "pmr");
  }).join();
}

}  // namespace instructions
