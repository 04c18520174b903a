// replay_pass: drives an allocator through a span of a trace. This is what is measured.
//
//     op --> allocator.allocate --> slots[slot] --> allocator.deallocate
//                 |
//                 +--> touch: the first byte, or all
//
// One instantiation for each type of calls (calls_in): an allocator of ours is inlined where its binding is
// typed, and all memory resources of a library share one. Around the allocator stand only the read of the op,
// the switch, the touch and the slot: what `none` costs, and what is subtracted. A pass stops at the first op
// that cannot be served.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "mallard/core/attributes.hpp"
#include "mallard/core/usage.hpp"
#include "replay/trace/op.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::replay {

// Members may throw std::bad_alloc, and answer null, when they are exhausted.
//   allocate(o)                  a block of o.size bytes at o.align()
//   allocate_aligned(o)          the same, where malloc would need another entry point
//   allocate_zeroed(o)           the same, its bytes 0; where there is none, they are zeroed here
//   deallocate(p, o)             ends the block at p
//   reallocate(p, to, from)      gives it another size and alignment, contents kept
//   end_pass()                   what a user of this strategy does when all is freed
template <class C>
concept block_allocator = requires(C& c, void* p, const op& o) {
  { c.allocate(o) } -> std::same_as<void*>;
  { c.allocate_aligned(o) } -> std::same_as<void*>;
  c.deallocate(p, o);
  { c.reallocate(p, o, o) } -> std::same_as<void*>;
  c.end_pass();
};

// An allocator that counts at its source what it holds.
template <class C>
concept counts_held = requires(const C& c) {
  { c.held() } -> std::convertible_to<std::size_t>;
  { c.max_held() } -> std::convertible_to<std::size_t>;
};

template <class C>
concept tells_usage = counts_held<C> && requires(const C& c) {
  { c.usage() } -> std::same_as<heap_usage>;
};

// Which bytes of a block are written at its allocation; none where the allocator under test has done so.
// Lines: one of each cache line of its first page, and one of each page behind that, as many programs fill
// small blocks and not all of large ones.
enum class touch : unsigned char { first, lines, all, none };

// An allocator with heaps of its own for a part of the program.
template <class C>
concept serves_parts = requires(const C& c) { c.heap_bytes(); };

// An allocator that needs to know its threads: begin_thread is called first on each, with the number of the
// copy of the trace's threads that it belongs to.
template <class C>
concept knows_threads =
    requires(C& c, const thread_part& part, std::uint64_t copy) { c.begin_thread(part, copy); };

// What a pass calls: what the allocator names as its calls, where it does, and else the allocator. The pass
// over calls of one type is the same for all allocators that have them.
template <class C>
MALLARD_INLINE auto& calls_in(C& c) {
  if constexpr (requires { c.calls(); })
    return c.calls();
  else
    return c;
}
template <class C>
using calls_of_pass = std::remove_reference_t<decltype(calls_in(std::declval<C&>()))>;

template <touch Touch>
MALLARD_INLINE void touch_block(void* p, std::size_t size) {
  if constexpr (Touch == touch::all) {
    std::memset(p, 1, size);
  } else if constexpr (Touch == touch::lines) {
    constexpr std::size_t line = 64;
    constexpr std::size_t page = 4096;
    auto* const bytes = static_cast<volatile char*>(p);
    for (std::size_t at = 0; at < size; at += at < page ? line : page) bytes[at] = 1;
    if (size != 0) bytes[size - 1] = 1;
  } else if (Touch == touch::first && size != 0) {
    *static_cast<volatile char*>(p) = 1;
  }
}

// What calloc is to this allocator. Where it has no way of its own, users write the zeros themselves.
// Not inlined: it would change how the code around it, which most operations run, is compiled.
template <block_allocator C>
MALLARD_NOINLINE void* allocate_zeroed(C& c, const op& o) {
  if constexpr (requires { c.allocate_zeroed(o); }) {
    return c.allocate_zeroed(o);
  } else {
    void* const p = c.allocate(o);
    return p == nullptr ? nullptr : std::memset(p, 0, o.size);
  }
}

// Replays [first, last); returns where it stopped: `last`, or the op that could not be served.
template <touch Touch, block_allocator C>
MALLARD_NOINLINE const op* replay_pass(C& c, const op* first, const op* last, void** slots) {
  for (; first != last; ++first) {
    switch (first->kind) {
      case op_kind::allocate: {
        void* p = c.allocate(*first);
        if (p == nullptr) return first;
        touch_block<Touch>(p, first->size);
        slots[first->slot] = p;
        break;
      }
      case op_kind::deallocate:
        c.deallocate(slots[first->slot], *first);
        break;
      case op_kind::allocate_aligned: {
        void* p = c.allocate_aligned(*first);
        if (p == nullptr) return first;
        touch_block<Touch>(p, first->size);
        slots[first->slot] = p;
        break;
      }
      case op_kind::allocate_zeroed:
      case op_kind::reallocate: {  // together: with one case more, compilers make the switch a table of jumps
        void* p = first->kind == op_kind::reallocate ? c.reallocate(slots[first->slot], first[0], first[1])
                                                     : allocate_zeroed(c, *first);
        if (p == nullptr) return first;
        touch_block<Touch>(p, first->size);
        slots[first->slot] = p;
        break;
      }
      case op_kind::resized_from:
        break;  // read with the reallocate in front of it
    }
  }
  return last;
}

// reallocate for allocators that cannot do it in place.
template <class C>
void* move_block(C& c, void* p, const op& to, const op& from) {
  void* moved = c.allocate(to);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, p, std::min(to.size, from.size));
  c.deallocate(p, from);
  return moved;
}

}  // namespace mallard::replay
