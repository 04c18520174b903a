// A class that allocates, but not as heaps do: it would throw where a heap returns null.
// error: /does not satisfy 'heap'|template constraint failure for .*allocator/
#include <cstddef>
#include <vector>

#include "mallard/allocator/allocator.hpp"
#include "mallard/heap/monotonic.hpp"

#if defined(MISTAKE)
struct throwing {
  mallard::block allocate(std::size_t size, std::size_t align);
  void deallocate(void* p, std::size_t size, std::size_t align);
};
using heap = throwing;
#else
using heap = mallard::monotonic;
#endif

std::vector<int, mallard::allocator<int, heap>> empty(heap& h) {
  return std::vector<int, mallard::allocator<int, heap>>(h);
}
