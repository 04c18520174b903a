// Arrays of fixed size are asked for as std::array, others as T[] with a count.
// error: for an array of fixed size take std::array
#include <array>

#include "mallard/allocator/winkout.hpp"
#include "mallard/heap/monotonic.hpp"

void build(mallard::monotonic& heap) {
#if defined(MISTAKE)
  (void)mallard::winkout<int[4]>(heap);
#else
  (void)mallard::winkout<std::array<int, 4> >(heap);
  (void)mallard::winkout<int[]>(heap, 4);
#endif
}
