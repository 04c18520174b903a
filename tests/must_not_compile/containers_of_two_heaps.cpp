// The heap is part of the type: containers of different heaps are different, and so are their allocators.
// error: /no match for .operator=|no viable overloaded '='/
#include <vector>

#include "mallard/allocator/allocator.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"

#if defined(MISTAKE)
using heap = mallard::multipool;
#else
using heap = mallard::monotonic;
#endif

void assign(std::vector<int, mallard::allocator<int, heap>>& to,
            const std::vector<int, mallard::allocator<int, mallard::monotonic>>& from) {
  to = from;
}
