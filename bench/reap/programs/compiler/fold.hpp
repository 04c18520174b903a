// fold: computes what is known while compiling, and simplifies what is nearly known.
//
//     2 * 3 + x    -> 6 + x        x + 0, x * 1, x | 0  -> x        &a + 8   -> the address 8 behind a
//     x * 8        -> x << 3       x * 0                -> 0, if x does nothing
//
// Trees that are replaced end at once. Arithmetic is that of the machine: 64 bits, wrapping.
#pragma once

#include "programs/compiler/tree.hpp"
#include "programs/memory/region.hpp"

namespace mallard::programs {

// A list of trees and all below them; what stands in place of the first.
[[nodiscard]] tree* folded(region& r, tree* first);

}  // namespace mallard::programs
