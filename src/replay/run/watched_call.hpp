// watched_call: one op of a trace, with a reading before and after what the allocator does.
//
//     op, slot read --> before() [ allocator.allocate ] after() --> touch, slot written
//
// As in pass.hpp, but with nothing of the pass between the readings. Where the binding is typed, the heap's
// code stands there inlined.
#pragma once

#include <cstdint>
#include <optional>

#include "harness/operation_clock.hpp"
#include "mallard/core/attributes.hpp"
#include "replay/run/pass.hpp"

namespace mallard::replay {

// How far the two readings are apart; nothing if the allocator refused. Precondition: not the second half of
// a reallocate.
template <block_allocator C>
MALLARD_NOINLINE std::optional<std::uint64_t> watched_call(C& c, const op* o, void** slots, touch touched,
                                                           const harness::operation_meter& meter) {
  void*& slot = slots[o->slot];
  void* const old = slot;
  std::uint64_t apart = 0;
  const auto watch = [&](auto call) {
    const std::uint64_t before = meter.before();
    void* const p = call();
    apart = meter.after() - before;
    return p;
  };
  switch (o->kind) {
    case op_kind::allocate:
      slot = watch([&] { return c.allocate(*o); });
      break;
    case op_kind::allocate_aligned:
      slot = watch([&] { return c.allocate_aligned(*o); });
      break;
    case op_kind::allocate_zeroed:
      slot = watch([&] { return allocate_zeroed(c, *o); });
      break;
    case op_kind::reallocate:
      slot = watch([&] { return c.reallocate(old, o[0], o[1]); });
      break;
    case op_kind::deallocate:
    case op_kind::resized_from:
      watch([&] {
        c.deallocate(old, *o);
        return old;
      });
      return apart;
  }
  if (slot == nullptr) return std::nullopt;
  if (touched == touch::all)
    touch_block<touch::all>(slot, o->size);
  else
    touch_block<touch::first>(slot, o->size);
  return apart;
}

}  // namespace mallard::replay
