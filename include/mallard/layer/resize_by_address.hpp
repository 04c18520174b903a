// resize_by_address: resize, for callers that know a block's address only, over any heap.
//
//     {data, unknown_size, limit, preferred, ways} --> resize --not known to the heap--> allocate
//
// The protocol of seed 001 (allocation_command) names a block by its address alone. What can be done with it
// in place is done by heaps that know the sizes of their blocks (`measurable`) and can resize; for all
// others growing is a new allocation, and shrinking gives nothing back. A way that the heap has costs what it
// costs there: one call, and one lock where the heap has one.
#pragma once

#include <cstddef>

#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/resize.hpp"

namespace mallard {

// As Heap::resize, with differences: `request.size` is not read, and `request.data` may be null where blocks
// may be new. A shrink of a block that stays as it is succeeds if it is small enough, a try_shrink always, as
// far as the heap knows how large it is. Nothing cannot be shrunk.
template <heap Heap>
[[nodiscard]] MALLARD_INLINE resize_result resize_by_address(Heap& heap, resize_request request) noexcept {
  using enum resize_way;
  const bool shrinks = has_way(request.ways, shrink | try_shrink);
  if constexpr (resizable<Heap> && measurable<Heap>) {
    const resize_way in_place = shrinks ? shrink | try_shrink : expand_forward | expand_backward;
    if (request.data != nullptr && has_way(request.ways & Heap::ways, in_place)) {
      request.size = unknown_size;
      if constexpr (has_way(Heap::ways, allocate_new)) {
        return heap.resize(request);  // a variable would be copied, and that waits for its parts' stores
      } else {
        const resize_result result = heap.resize(request);
        if (result.memory || shrinks) return result;
      }
    }
  }
  if (shrinks) {
    if (request.data == nullptr) return {};
    if constexpr (measurable<Heap>) {
      const std::size_t size = heap.usable_size(request.data);
      if (size <= request.limit || has_way(request.ways, try_shrink)) return {{request.data, size}, true};
    }
    return {};
  }
  if (!has_way(request.ways, allocate_new)) return {};
  block fresh = heap.allocate(request.preferred, request.align);
  if (!fresh && request.limit < request.preferred) fresh = heap.allocate(request.limit, request.align);
  return {fresh, false};
}

}  // namespace mallard
