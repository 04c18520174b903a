// obstack: a stack of objects of any size, of which the topmost can grow.
//
//     newest --> [header| b b b b b [object under construction ...|...free...]] --> [header| b b b b |]
//                             ^ free_from(b): this one and all after it end
//
// A `region` that is an `object_stack`: free_from(block) ends that block and all newer ones, as mark() and
// rewind(mark) do without a block; grow(bytes) and finish() build an object whose size is not known in
// advance. The C library's obstack functions correspond to:
//
//     obstack_alloc(o, size)          o.allocate(size, align)
//     obstack_free(o, object)         o.free_from(object); of a null pointer o.clear()
//     obstack_grow(o, data, size)     memcpy(o.grow(size), data, size), where that is not null
//     obstack_base, obstack_object_size     o.object()
//     obstack_finish(o)               o.finish()
//
// It nests as regions do. Emptied chunks return to the upstream, except for the largest. Cost: region's;
// free_from is O(newer chunks). Not synchronised.
// Seed 002, section 4.2 (obstack region).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "mallard/core/align.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/growth.hpp"
#include "mallard/core/resize.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/region.hpp"
#include "mallard/layer/nested.hpp"
#include "mallard/source/default_source.hpp"
#include "mallard/source/upstream_ref.hpp"

namespace mallard {

// object_stack<Heap>: adds a growing object and free_from() to a region.
//
//     [ block | block | block | growing object ......| room ]        grow() appends to the topmost
//                       ^ free_from(this one): it ends, with all newer ones
//
// The object under construction grows at the top, where the heap can extend it in place; otherwise it moves
// to a block of twice the size. finish() makes a block of it and returns the unused part. Blocks may be
// allocated meanwhile: the object is then no longer topmost, and moves when it grows. Operations that end all
// blocks, or those since a mark, end the object too.
// Invariant: the object's bytes are the beginning of a live block of the heap, whose size is the capacity.
// Cost: grow() within the capacity is a comparison and an addition; moves are amortised over the growth;
// free_from() is O(newer chunks).
// Heap: `resizable` by expand_forward, allocate_new and try_shrink, `rewindable`, and has mark_at(p). Seed
// 002, section 4.2 (obstack region).
template <rewindable Heap>
  requires(resizable<Heap> && clearable<Heap> && releasable<Heap>)
class object_stack : public Heap {
 public:
  using Heap::Heap;
  using typename Heap::mark_type;

  // Ends the live block at `p` and every block that was allocated, or resized, after it.
  void free_from(void* p) noexcept { rewind(Heap::mark_at(p)); }

  // Appends `size` bytes to the object under construction, which the first call starts; null with nothing
  // changed when the heap is exhausted. The object is aligned to `default_align` and may move: addresses in
  // it are valid until the next call.
  [[nodiscard]] void* grow(std::size_t size) noexcept {
    const bool fits = size <= capacity_ - used_ && begin_ != nullptr;
    if (!fits && !extend(size)) return nullptr;
    std::byte* const added = begin_ + used_;
    used_ += size;
    return added;
  }

  // The object under construction so far; a null block if there is none.
  [[nodiscard]] block object() const noexcept { return {begin_, used_}; }

  // Turns the object into a block; null if there is none. The next call of grow() starts another one.
  block finish() noexcept {
    if (begin_ == nullptr) return {};
    const std::size_t size = std::max<std::size_t>(used_, 1);
    const resize_result made =
        Heap::resize({begin_, capacity_, default_align, size, size, resize_way::try_shrink});
    forget();
    return made.memory;
  }

  void clear() noexcept {
    forget();
    Heap::clear();
  }

  void release() noexcept {
    forget();
    Heap::release();
  }

  void rewind(const mark_type& to) noexcept {
    forget();
    Heap::rewind(to);
  }

 private:
  // Room for `size` more bytes than are used.
  bool extend(std::size_t size) noexcept {
    if (size > max_request - used_) return false;
    const std::size_t least = std::max<std::size_t>(used_ + size, 1);
    const std::size_t wished = least > max_request / 2 ? least : 2 * least;
    const block room = begin_ == nullptr ? Heap::allocate(least, default_align) : resized(least, wished);
    if (!room) return false;
    begin_ = static_cast<std::byte*>(room.data);
    capacity_ = room.size;
    return true;
  }

  block resized(std::size_t least, std::size_t wished) noexcept {
    constexpr resize_way both = resize_way::expand_forward | resize_way::allocate_new;
    const resize_result found = Heap::resize({begin_, capacity_, default_align, least, wished, both});
    if (found.memory && !found.reused) {
      std::memcpy(found.memory.data, begin_, used_);
      Heap::deallocate(begin_, capacity_, default_align);
    }
    return found.memory;
  }

  void forget() noexcept {
    begin_ = nullptr;
    used_ = capacity_ = 0;
  }

  std::byte* begin_ = nullptr;
  std::size_t used_ = 0;      // bytes of the object
  std::size_t capacity_ = 0;  // bytes of its block
};

template <heap Upstream = default_source, growth_policy Growth = region_growth>
using basic_obstack = nested<object_stack<basic_monotonic<shared_upstream<Upstream>, Growth>>>;

using obstack = basic_obstack<>;

template <>
inline constexpr std::string_view heap_name<obstack> = "obstack";

}  // namespace mallard
