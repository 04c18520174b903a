// A memory_resource is not a heap, and needs no facade.
// error: /does not satisfy 'heap'|template constraint failure for .*resource/
#include <memory_resource>

#include "mallard/heap/monotonic.hpp"
#include "mallard/resource/resource.hpp"

#if defined(MISTAKE)
mallard::resource<std::pmr::monotonic_buffer_resource> memory;
#else
mallard::resource<mallard::monotonic> memory;
#endif
