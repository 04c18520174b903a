// per_class: a free list for each size that a type can have.
//
//     sizeof(T):   8   16   24   32   40 ... 1024 | by eighths of a doubling to 32 KiB | passed through
//                  |    |    |    |    |       |
//                 free lists, over shared chunks
//
// A `multipool` whose classes are 8 bytes apart up to 1 KiB. Types whose sizes are multiples of 8 and whose
// alignments are at most 8 are not rounded and share a list only with types of the same size; others are
// rounded up to the next list. A program that gives each class its own allocator, and lets these share
// memory, gets the same. For a single type use `pool`, which keeps one list. Each class below 1 KiB has its
// own peak, so more memory is left over than in a multipool when a program turns to other sizes; in return
// no block has unused bytes. Cost: multipool's. Seed 002, section 4.2 (per-class).
#pragma once

#include <string_view>

#include "mallard/core/concepts.hpp"
#include "mallard/core/size_classes.hpp"
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
