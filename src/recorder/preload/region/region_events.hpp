// region_events: something happened to a region, as an event of this thread.
//
// Used by the annotations and by the interposers of region allocators, inside their entry points. What
// the entry point's real function allocates meanwhile is recorded as ever, so the event is noted before
// or after it, and not around it. Whatever is noted from inside malloc is not the program's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "recorder/preload/event/call.hpp"
#include "recorder/preload/event/note.hpp"

namespace mallard::recorder {

// `extra` is a block of the region, or of a region_create the parent.
MALLARD_INLINE void note_region(event_kind kind, const void* region, const void* extra, std::size_t size,
                                const call_site& site) noexcept {
  const call here;
  if (!here.recorded()) [[unlikely]]
    return;
  stopwatch watch;  // gcc's code for a const one is longer  NOLINT(misc-const-correctness)
  note_event({static_cast<unsigned>(kind) | site_bit | extra_bit, reinterpret_cast<std::uintptr_t>(region),
              size, reinterpret_cast<std::uintptr_t>(extra)},
             site, watch);
  watch.account();
}

}  // namespace mallard::recorder
