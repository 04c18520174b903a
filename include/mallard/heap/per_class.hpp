// per_class: a free list for each size that a type can have.
//
//     sizeof(T):   8   16   24   32   40 ... 1024 | by eighths of a doubling to 32 KiB | passed through
//                  |    |    |    |    |       |
//                 free lists, over shared chunks
//
// A `multipool` whose classes are 8 bytes apart up to 1 KiB, so that types whose sizes are multiples of 8,
// and whose alignments are 8 at most, never share a list where they differ in size, and are not rounded; what
// is odd, or aligned more strictly, is rounded up to the next such list. It is what a program gets that gives
// each of its classes an allocator of its own and lets these share their memory. For one type alone take a
// `pool`, which keeps its list only. Holds what a multipool holds, where each of the classes below 1 KiB has
// a peak of its own: more of them are left over when a program turns from some sizes to others, nothing is
// lost within a block. Cost: multipool's. Seed 002, section 4.2 (per-class).
#pragma once

#include <string_view>

#include "mallard/core/size_classes.hpp"
#include "mallard/heap/heap_name.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/source/default_source.hpp"

namespace mallard {

using per_class_sizes = size_classes<8, 1024, 8, 32768>;

template <heap Upstream = default_source>
using basic_per_class = basic_multipool<Upstream, per_class_sizes>;

using per_class = basic_per_class<>;

template <>
inline constexpr std::string_view heap_name<per_class> = "per_class";

}  // namespace mallard
