// A heap that cannot end its blocks all at once: what is built there would never end.
// error: this owner cannot end its blocks all at once
#include "mallard/allocator/winkout.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/source/os_pages.hpp"

#if defined(MISTAKE)
using owner = mallard::os_pages;
#else
using owner = mallard::basic_monotonic<mallard::counting<mallard::os_pages> >;
#endif

int& build(owner& heap) { return mallard::winkout<int>(heap, 1); }
