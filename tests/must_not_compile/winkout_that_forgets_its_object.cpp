// The reference is the only way to the object, which nobody destroys.
// error: nodiscard
#include "mallard/allocator/winkout.hpp"
#include "mallard/heap/monotonic.hpp"

void build(mallard::monotonic& heap) {
#if defined(MISTAKE)
  mallard::winkout<int>(heap, 1);
#else
  mallard::winkout<int>(heap, 1) = 2;
#endif
}
