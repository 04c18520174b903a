// region: memory that is handed out block by block and ends as a whole, or with the region around it.
//
//     parent   newest --> [header| b b b b b |..free..] --> [header| b b b b b b |]
//                 |                           ^ cursor
//     child    newest --> [header| b b |....free....]      chunks of its own, from 8 KiB doubling to 1 MiB
//
// A `monotonic` that is `nested`, and no more: blocks without headers, deallocate empty and inline, the
// topmost block growing and shrinking in place, mark() and rewind(). The seed's interface in ours:
//
//     regionCreate(r, parent)    basic_region r(parent, nesting::ends_with_parent), or cleared_with_parent
//     regionAllocate(r, size)    r.allocate(size, align)
//     regionDelete(r)            r.clear(), which keeps the largest chunk, or r.release()
//     regionDestroy(r)           the destructor; children end before
//
// What its nesting means is in layer/nested.hpp, and in docs/regions.md. It holds nothing before its first
// block; then less than four times what was allocated and a page, and beyond 1 MiB less than twice and
// 1 MiB, where blocks are small beside chunks (a block that does not fit leaves the rest of a chunk unused).
// Cost: an allocation is monotonic's, 6 to 12 instructions; an empty region is made and ended in 28, a child
// in 48 (./dev instructions). Not synchronised: a family of regions counts as one heap. Seed 002, section 4.2
// (region, nested region) and 7 (chunks).
#pragma once

#include <cstddef>
#include <string_view>

#include "mallard/core/concepts.hpp"
#include "mallard/heap/heap_name.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/layer/growth.hpp"
#include "mallard/layer/nested.hpp"
#include "mallard/source/default_source.hpp"
#include "mallard/source/shared_upstream.hpp"

namespace mallard {

// Many regions are small and live side by side, so that the first chunk is; what grows large soon has few
// chunks, and at most 1 MiB at its end that nothing has touched.
using region_growth = doubling<8192, std::size_t{1} << 20>;

template <heap Upstream = default_source, growth_policy Growth = region_growth>
using basic_region = nested<basic_monotonic<shared_upstream<Upstream>, Growth>>;

using region = basic_region<>;

template <>
inline constexpr std::string_view heap_name<region> = "region";

}  // namespace mallard
