// The abstract base may be anything, the program's own heap as well: it does not say that it can release.
// error: this owner cannot end its blocks all at once
#include <memory_resource>

#include "mallard/allocator/winkout.hpp"

#if defined(MISTAKE)
using owner = std::pmr::memory_resource;
#else
using owner = std::pmr::unsynchronized_pool_resource;
#endif

int& build(owner& memory) { return mallard::winkout<int>(memory, 1); }
