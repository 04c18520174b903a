// object_stack<Heap>: what an obstack can do beyond a region.
//
//     [ block | block | block | growing object ......| room ]        grow() appends to the topmost
//                       ^ free_from(this one): it ends, and all that came after
//
// The object under construction grows at the top, where the heap can do so without moving it, else it moves
// to where there is room for twice as much; finish() makes a block of it and gives back what it did not use.
// Blocks may be allocated meanwhile: the object is then no longer the topmost, and moves when it grows.
// What ends all blocks, or those since a mark, ends the object, too.
// Invariant: the object's bytes are the beginning of a live block of the heap, which has its capacity.
// Cost: grow() in the room of the object is a comparison and an addition, its moves are spread over what it
// grows by; free_from() is O(chunks that are newer).
// Heap: `resizable` by expand_forward, allocate_new and try_shrink, `rewindable`, and it knows mark_at(p).
// Seed 002, section 4.2 (obstack region).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "mallard/core/align.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/resize.hpp"

namespace mallard {

template <rewindable Heap>
  requires(resizable<Heap> && clearable<Heap> && releasable<Heap>)
class object_stack : public Heap {
 public:
  using Heap::Heap;
  using typename Heap::mark_type;

  // Ends the live block at `p` and every block that was allocated, or resized, after it.
  void free_from(void* p) noexcept { rewind(Heap::mark_at(p)); }

  // `size` more bytes at the end of the object under construction, which begins with the first call; null,
  // and nothing has changed, when the heap is exhausted. The object is aligned to `default_align`, and may
  // move: addresses in it are good until the next call.
  [[nodiscard]] void* grow(std::size_t size) noexcept {
    const bool fits = size <= capacity_ - used_ && begin_ != nullptr;
    if (!fits && !extend(size)) return nullptr;
    std::byte* const added = begin_ + used_;
    used_ += size;
    return added;
  }

  // The object under construction so far; a null block where there is none.
  [[nodiscard]] block object() const noexcept { return {begin_, used_}; }

  // Makes a block of the object, null where there is none. The next call of grow() begins another one.
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
  std::size_t capacity_ = 0;  // bytes of the block that it begins
};

}  // namespace mallard
