// region_emulator: the semantics of regions over a malloc.
//
//     region_emulator over malloc     [ * * * * * ]  entries, in pages of their own
//        |                              | | | | |
//        +-- child, the same malloc   malloc's blocks, each ended by free
//
// What a program with regions is compared with: the same calls, every block a malloc's. It does all that
// region and obstack do but grow an object: nesting (layer/nested.hpp), clear(), release(), mark() and
// rewind(), free_from(block). It costs what the malloc does, an entry for each block, and a page
// for the entries of a region that has any; blocks are not touched
// (heap/region_emulator/emulated_region.hpp). Any heap may stand in malloc's place. Not synchronised, even
// over a malloc that is. Seed 002, section 5.1 (emulating regions).
#pragma once

#include <string_view>

#include "mallard/core/concepts.hpp"
#include "mallard/heap/heap_name.hpp"
#include "mallard/heap/region_emulator/emulated_region.hpp"
#include "mallard/layer/nested.hpp"
#include "mallard/source/default_source.hpp"
#include "mallard/source/malloc_heap.hpp"
#include "mallard/source/shared_upstream.hpp"

namespace mallard {

template <heap Upstream = malloc_heap, heap Records = cached_pages>
using basic_region_emulator = nested<emulated_region<shared_upstream<Upstream>, Records>>;

using region_emulator = basic_region_emulator<>;

template <>
inline constexpr std::string_view heap_name<region_emulator> = "region_emulator";

}  // namespace mallard
