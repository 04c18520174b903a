// obstack: a stack of objects of any size, of which the topmost grows.
//
//     newest --> [header| b b b b b [object under construction ...|...free...]] --> [header| b b b b |]
//                             ^ free_from(b): this one and all after it end
//
// A `region` that is an `object_stack`: free_from(block) ends a block and what came after it, as mark() and
// rewind(mark) do without a block; grow(bytes) and finish() build an object whose size is not known before.
// In the words of the C library's obstacks:
//
//     obstack_alloc(o, size)          o.allocate(size, align)
//     obstack_free(o, object)         o.free_from(object); of a null pointer o.clear()
//     obstack_grow(o, data, size)     memcpy(o.grow(size), data, size), where that is not null
//     obstack_base, obstack_object_size     o.object()
//     obstack_finish(o)               o.finish()
//
// It nests as regions do. Chunks that become empty go back but for the largest.
// Cost: region's; free_from O(chunks that are newer). Not synchronised.
// Seed 002, section 4.2 (obstack region).
#pragma once

#include <string_view>

#include "mallard/core/concepts.hpp"
#include "mallard/heap/heap_name.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/region.hpp"
#include "mallard/layer/growth.hpp"
#include "mallard/layer/nested.hpp"
#include "mallard/layer/object_stack.hpp"
#include "mallard/source/default_source.hpp"
#include "mallard/source/shared_upstream.hpp"

namespace mallard {

template <heap Upstream = default_source, growth_policy Growth = region_growth>
using basic_obstack = nested<object_stack<basic_monotonic<shared_upstream<Upstream>, Growth>>>;

using obstack = basic_obstack<>;

template <>
inline constexpr std::string_view heap_name<obstack> = "obstack";

}  // namespace mallard
