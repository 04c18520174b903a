// Frees of blocks above a pool's largest class, with 2^8 to 2^16 such blocks live.
//
// One at random is freed, which is counted, and allocated anew, which is not. Each block is the smallest
// above the allocator's own largest class; none is written to.

#include <boost/container/pmr/unsynchronized_pool_resource.hpp>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <random>
#include <string_view>
#include <vector>

#include "bindings.hpp"
#include "counted.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/heap/synchronized_multipool.hpp"
#include "mallard/resource/resource.hpp"
#include "scenarios.hpp"

namespace instructions {
namespace {

constexpr std::size_t times = 128;

template <class Heap>
std::size_t largest_class(const mallard::resource<Heap>&) {
  return Heap::classes::largest;
}

template <class Resource>
std::size_t largest_class(const Resource& pools) {
  return pools.options().largest_required_pool_block;
}

template <class Resource>
void frees(std::string_view allocator) {
  begin_with_an_empty_cache();  // else valgrind has more mappings to keep than it can
  for (const std::size_t count : many_live) {
    Resource pools;
    const auto resource = hidden(as_base(pools));
    const std::size_t size = largest_class(pools) + 1;
    std::vector<void*> live(count);
    for (void*& p : live) p = resource->allocate(size, item_align);
    std::mt19937 random(1);
    for (std::size_t i = 0; i != times; ++i) {
      void*& p = live[random() % count];
      {
        const counted here;
        resource->deallocate(p, size, item_align);
      }
      p = resource->allocate(size, item_align);
    }
    tell({"large free", allocator, "pmr", count}, times);
  }
}

}  // namespace

void large_blocks() {
  for (const std::size_t count : many_live) tell_empty_stretches("large free", count, times);
  frees<mallard::resource<mallard::multipool>>("multipool");
  frees<mallard::resource<mallard::synchronized_multipool>>("synchronized_multipool");
  frees<std::pmr::unsynchronized_pool_resource>("std.pool");
  frees<boost::container::pmr::unsynchronized_pool_resource>("boost.pool");
}

}  // namespace instructions
