// A least block of 24 bytes cannot be aligned to 16.
// error: so that every alignment up to it divides it
#include "mallard/core/size_classes.hpp"

#if defined(MISTAKE)
using classes = mallard::size_classes<8, 64, 8, 1024, 24>;
#else
using classes = mallard::size_classes<8, 64, 8, 1024, 32>;
#endif
static_assert(classes::serves(8, 16));
