// A vector of one heap, built in another: the release would take the vector and leave its elements.
// error: T takes its memory from another kind of heap
#include <vector>

#include "mallard/allocator/winkout.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"

template <class Heap>
using numbers = std::vector<int, mallard::allocator<int, Heap>>;

void build(mallard::monotonic& arena, mallard::multipool& pools) {
#if defined(MISTAKE)
  (void)mallard::winkout<numbers<mallard::multipool>>(arena,
                                                      mallard::allocator<int, mallard::multipool>(pools));
#else
  (void)mallard::winkout<numbers<mallard::multipool>>(pools);
  (void)mallard::winkout<numbers<mallard::monotonic>>(arena);
#endif
}
