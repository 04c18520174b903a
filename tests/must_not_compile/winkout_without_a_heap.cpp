// The heap comes first, then what the object is built from.
// error: the first argument is where to build
#include "mallard/allocator/winkout.hpp"
#include "mallard/heap/monotonic.hpp"

int& build([[maybe_unused]] mallard::monotonic& heap) {
#if defined(MISTAKE)
  int number = 1;
  return mallard::winkout<int>(number, heap);
#else
  return mallard::winkout<int>(heap, 1);
#endif
}
