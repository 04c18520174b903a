// replay_region_pass: drives an allocator through a span of a trace of regions. This is what is measured.
//
//     op --> allocator.create, clear, destroy        of regions, by slot
//        --> allocator.allocate --> blocks[block] --> allocator.deallocate
//
// As in pass.hpp: one instantiation an allocator, and around it only what the baseline costs, too.
#pragma once

#include <concepts>

#include "mallard/core/attributes.hpp"
#include "replay/run/pass.hpp"
#include "replay/trace/op.hpp"

namespace mallard::replay {

// Members may throw std::bad_alloc when they are exhausted.
//   clear_ends_children     whether clearing a region ends those inside it
//   destroy_ends_children   whether destroying one does
//   create(region, parent)  a region in this slot, inside another or a root (no_region); false: exhausted
//   allocate(o)             a block of o.size() bytes at o.align() in o.region(); null: exhausted
//   deallocate(p, o)        ends the block at p; where blocks end with their regions only, nothing
//   clear(region)           ends its blocks
//   destroy(region)         ends it
//   end_pass()              all regions have ended
//   region_bytes            of the object that a program keeps a region in (where there is one), which lies
//                           in the harness's own memory here
template <class C>
concept region_allocator = requires(C& c, void* p, const region_op& o, std::uint32_t region) {
  { C::clear_ends_children } -> std::convertible_to<bool>;
  { C::destroy_ends_children } -> std::convertible_to<bool>;
  { c.create(region, region) } -> std::same_as<bool>;
  { c.allocate(o) } -> std::same_as<void*>;
  c.deallocate(p, o);
  c.clear(region);
  c.destroy(region);
  c.end_pass();
};

template <class C>
concept keeps_regions = region_allocator<C> && requires {
  { C::region_bytes } -> std::convertible_to<std::size_t>;
};

// Replays [first, last); returns where it stopped: `last`, or the op that could not be served.
template <touch Touch, region_allocator C>
MALLARD_NOINLINE const region_op* replay_region_pass(C& c, const region_op* first, const region_op* last,
                                                     void** blocks) {
  for (; first != last; ++first) {
    switch (first->kind()) {
      case region_op_kind::create:
        if (!c.create(first->region(), first->parent())) return first;
        break;
      case region_op_kind::allocate: {
        void* p = c.allocate(*first);
        if (p == nullptr) return first;
        touch_block<Touch>(p, first->size());
        blocks[first->block()] = p;
        break;
      }
      case region_op_kind::deallocate:
        c.deallocate(blocks[first->block()], *first);
        break;
      case region_op_kind::clear:
        c.clear(first->region());
        break;
      case region_op_kind::destroy:
        c.destroy(first->region());
        break;
      case region_op_kind::ended_by_clear:
        if constexpr (!C::clear_ends_children) c.destroy(first->region());
        break;
      case region_op_kind::ended_by_destroy:
        if constexpr (!C::destroy_ends_children) c.destroy(first->region());
        break;
    }
  }
  return last;
}

}  // namespace mallard::replay
