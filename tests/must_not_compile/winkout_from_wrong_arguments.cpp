// An object from arguments that none of its constructors takes.
// error: T has no constructor for these arguments
#include "mallard/allocator/winkout.hpp"
#include "mallard/heap/monotonic.hpp"

struct point {
  point(int x, int y) : x_(x), y_(y) {}
  int x_;
  int y_;
};

#if defined(MISTAKE)
point& build(mallard::monotonic& heap) { return mallard::winkout<point>(heap, "one"); }
#else
point& build(mallard::monotonic& heap) { return mallard::winkout<point>(heap, 1, 2); }
#endif
