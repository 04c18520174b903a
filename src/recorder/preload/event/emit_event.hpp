// emit_event: one event, from its fields into the thread's ring.
//
//     emit_event: a ring with room? --> emit_event_fast: context of the site, clock, 2 to 6 words, head
//                 else              --> emit_event_slow: the same after a look at the reader, or with a
//                                       ring_access
//
// The context is found before the clock is read, so that the event's time is the call's, and what the
// recorder does counts as its own. Inlined into every entry point, with the bits known to the compiler.
#pragma once

#include <cstdint>

#include "journal/spool/ring_record.hpp"
#include "recorder/preload/event/call_site.hpp"
#include "recorder/preload/event/stopwatch.hpp"
#include "recorder/preload/state/recorder_state.hpp"
#include "recorder/preload/thread/thread_state.hpp"

namespace mallard::recorder {

struct event_fields {
  unsigned kind_and_bits;  // an event_kind; site_bit and extra_bit as the fields below are there
  std::uint64_t subject;
  std::uint64_t size;
  std::uint64_t extra;
};

// Precondition: this thread has a ring, and room in it. Returns where the event's duration belongs, if it is
// timed: a free is recorded before it is carried out.
MALLARD_INLINE std::uint64_t* emit_event_fast(const event_fields& e, const call_site& site,
                                              const stopwatch& watch) noexcept {
  const std::uint32_t context = (e.kind_and_bits & site_bit) != 0 ? context_of(site) : 0;
  const std::uint64_t now = recording_time();
  ring_writer& ring = self.ring;
  std::uint64_t* const words = ring.words;
  const std::uint64_t mask = ring.mask;
  std::uint64_t at = ring.head;
  words[at++ & mask] = first_word(e.kind_and_bits | (watch.is_running() ? timed_bit : 0), now);
  words[at++ & mask] = e.subject;
  if ((e.kind_and_bits & site_bit) != 0) {
    words[at++ & mask] = site_word(context, e.size);
    if (e.size >= large_size) [[unlikely]]
      words[at++ & mask] = e.size;
  }
  if ((e.kind_and_bits & extra_bit) != 0) words[at++ & mask] = e.extra;
  std::uint64_t* duration = nullptr;
  if (watch.is_running()) [[unlikely]] {
    duration = &words[at++ & mask];
    *duration = watch.duration();
  }
  ring.publish(at);
  return duration;
}

// By value, so that the fast path keeps all of them in registers.
MALLARD_NOINLINE inline std::uint64_t* emit_event_slow(event_fields e, call_site site,
                                                       stopwatch watch) noexcept {
  const spool_header* spool = current_spool();
  if (spool == nullptr) return nullptr;
  if (self.ring.shared != nullptr && spool->stopped.load(std::memory_order_relaxed) == 0 &&
      take_room(self.ring))
    return emit_event_fast(e, site, watch);
  const ring_access access;
  if (!access.ready()) return nullptr;
  std::uint64_t* duration = emit_event_fast(e, site, watch);
  return access.is_shared() ? nullptr : duration;  // others write there as soon as the ring is given back
}

MALLARD_INLINE std::uint64_t* emit_event(const event_fields& e, const call_site& site,
                                         const stopwatch& watch) noexcept {
  if (self.ring.head + max_event_words <= self.ring.limit) [[likely]]
    return emit_event_fast(e, site, watch);
  return emit_event_slow(e, site, watch);
}

}  // namespace mallard::recorder
