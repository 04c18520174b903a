// Lives of heaps: construct one, take one block and give it back, destroy it.
//
// Counted after the same lives have been led before: what the process keeps from one pool for the next,
// in a cache of chunks or in malloc, is there. Instructions in the kernel are not counted, so it is
// told whether there were any.

#include <boost/container/pmr/monotonic_buffer_resource.hpp>
#include <boost/container/pmr/synchronized_pool_resource.hpp>
#include <boost/container/pmr/unsynchronized_pool_resource.hpp>
#include <cstddef>
#include <memory_resource>
#include <string_view>

#include "contestants.hpp"
#include "counted.hpp"
#include "mallard/heap/heap_name.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/heap/pool.hpp"
#include "mallard/heap/stack_arena.hpp"
#include "mallard/heap/synchronized_multipool.hpp"
#include "mallard/heap/synchronized_pool.hpp"
#include "mallard/layer/locked.hpp"
#include "mallard/resource/resource.hpp"
#include "mallard/source/counting.hpp"
#include "mallard/source/os_pages.hpp"
#include "scenarios.hpp"

namespace instructions {
namespace {

template <class Contestant>
[[gnu::noinline]] void live(std::size_t times) {
  for (; times != 0; --times) {
    Contestant heap;
    clobber();
    void* const p = hidden(heap.allocate());
    clobber();
    heap.deallocate(p);
    clobber();
  }
}

template <class Contestant>
void lives(std::string_view contestant, std::string_view way) {
  constexpr std::size_t times = 256;
  live<Contestant>(times);
  {
    const counted here;
    live<Contestant>(times);
  }
  tell({"life", contestant, way, 1}, times, "system calls");
}

template <class Heap>
void lives_of(std::string_view name = mallard::heap_name<Heap>) {
  lives<typed<Heap>>(name, "typed");
  lives<virtually<mallard::resource<Heap>>>(name, "pmr");
}

}  // namespace

void lives_of_heaps() {
  lives<typed<none>>("none", "typed");
  lives_of<mallard::monotonic>();
  lives_of<mallard::stack_arena<4096>>();
  lives_of<mallard::multipool>();
  lives_of<mallard::pool>();
  lives_of<mallard::multipool_over_monotonic>();
  lives_of<mallard::synchronized_multipool>();
  lives_of<mallard::synchronized_pool>();
  lives_of<mallard::locked<mallard::multipool>>("locked multipool");
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
