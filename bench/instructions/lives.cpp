// Lives of the heaps that serve a few sizes, and of the standard library's and Boost's.

#include <boost/container/pmr/monotonic_buffer_resource.hpp>
#include <boost/container/pmr/synchronized_pool_resource.hpp>
#include <boost/container/pmr/unsynchronized_pool_resource.hpp>
#include <memory_resource>

#include "bindings.hpp"
#include "lives.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/heap/pool.hpp"
#include "mallard/heap/stack_arena.hpp"
#include "mallard/heap/synchronized_multipool.hpp"
#include "mallard/heap/synchronized_pool.hpp"
#include "mallard/layer/locked.hpp"
#include "mallard/source/counting.hpp"
#include "mallard/source/os_pages.hpp"
#include "scenarios.hpp"

namespace instructions {

void lives_of_heaps() {
  lives<typed<none>>("none", "typed");
  lives_of<mallard::monotonic>();
  lives_of<mallard::stack_arena<4096>>();
  lives_of<mallard::multipool>();
  lives_of<mallard::pool>();
  lives_of<mallard::multipool_over_monotonic>();
  lives_of<mallard::synchronized_multipool>();
  lives_of<mallard::synchronized_pool>();
  lives_of<mallard::locked<mallard::multipool>>();
  // Each life asks the system for its memory: what the others are spared, and that system calls are seen.
  lives<typed<mallard::basic_multipool<mallard::counting<mallard::os_pages>>>>("multipool/os_pages", "typed");
  lives<virtually<std::pmr::monotonic_buffer_resource>>("std.monotonic", "pmr");
  lives<virtually<std::pmr::unsynchronized_pool_resource>>("std.pool", "pmr");
  lives<virtually<std::pmr::synchronized_pool_resource>>("std.sync_pool", "pmr");
  lives<virtually<boost::container::pmr::monotonic_buffer_resource>>("boost.monotonic", "pmr");
  lives<virtually<boost::container::pmr::unsynchronized_pool_resource>>("boost.pool", "pmr");
  lives<virtually<boost::container::pmr::synchronized_pool_resource>>("boost.sync_pool", "pmr");
}

}  // namespace instructions
