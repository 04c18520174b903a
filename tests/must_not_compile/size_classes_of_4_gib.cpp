// The table of sizes has 32 bits for each.
// error: the table holds 32 bits a size
#include "mallard/core/size_classes.hpp"

#if defined(MISTAKE)
using classes = mallard::size_classes<8, 64, 8, std::size_t{1} << 32>;
#else
using classes = mallard::size_classes<8, 64, 8, std::size_t{1} << 31>;
#endif
static_assert(classes::serves(classes::largest, 8));
