// A heap stays where it is: what it has handed out is not told that it went.
// error: /use of deleted|deleted constructor/
#include <utility>

#include "mallard/heap/monotonic.hpp"

void use(mallard::monotonic& heap) {
#if defined(MISTAKE)
  const mallard::monotonic moved(std::move(heap));
#else
  const mallard::monotonic& moved(heap);
#endif
  (void)moved.usage();
}
