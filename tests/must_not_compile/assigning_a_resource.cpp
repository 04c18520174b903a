// A resource owns its heap, so it is no more copied than the heap is.
// error: /use of deleted|selected deleted operator/
#include "mallard/heap/monotonic.hpp"
#include "mallard/resource/resource.hpp"

void use(mallard::resource<mallard::monotonic>& to, mallard::resource<mallard::monotonic>& from) {
#if defined(MISTAKE)
  to = from;
#else
  to.heap().release();
  from.heap().release();
#endif
}
