// region: memory allocated block by block and freed as a whole, or together with the enclosing region.
//
//     parent   newest --> [header| b b b b b |..free..] --> [header| b b b b b b |]
//                 |                           ^ cursor
//     child    newest --> [header| b b |....free....]      chunks of its own, from 8 KiB doubling to 1 MiB
//
// A `nested` `monotonic`: blocks without headers, an empty inline deallocate, a topmost block that grows and
// shrinks in place, mark() and rewind(). The seed's interface corresponds to:
//
//     regionCreate(r, parent)    basic_region r(parent, nesting::ends_with_parent), or cleared_with_parent
//     regionAllocate(r, size)    r.allocate(size, align)
//     regionDelete(r)            r.clear(), which keeps the largest chunk, or r.release()
//     regionDestroy(r)           the destructor; children end before
//
// layer/nested.hpp and docs/regions.md define the nesting. It holds nothing before its first block; then less
// than four times what was allocated and a page, and beyond 1 MiB less than twice that and 1 MiB, if blocks
// are small compared with chunks (a block that does not fit leaves the rest of its chunk unused).
// Cost: an allocation takes monotonic's 6 to 12 instructions; creating and ending an empty region takes 26, a
// child 46 (./dev instructions). Not synchronised: a family of regions counts as one heap. Seed 002, section
// 4.2 (region, nested region) and 7 (chunks).
#pragma once

#include <cstddef>
#include <string_view>

#include "mallard/core/concepts.hpp"
#include "mallard/core/growth.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/layer/nested.hpp"
#include "mallard/source/default_source.hpp"
#include "mallard/source/upstream_ref.hpp"

namespace mallard {

// Many regions are small and exist side by side, so the first chunk is small. A region that grows large soon
// has few chunks, and at most 1 MiB of untouched memory at its end.
using region_growth = doubling<8192, std::size_t{1} << 20>;

template <heap Upstream = default_source, growth_policy Growth = region_growth>
using basic_region = nested<basic_monotonic<shared_upstream<Upstream>, Growth>>;

using region = basic_region<>;

template <>
inline constexpr std::string_view heap_name<region> = "region";

}  // namespace mallard
