// record_call: a call of an entry point, carried out and recorded.
//
//     allocation   real call, event        free   event, real call
//
// Each takes the real call as a function object; everything is inlined into the entry point. A call from
// inside another one, and any call while nothing is recorded, is only carried out. The real call of an
// allocation may throw; there is nothing to clean up here.
#pragma once

#include <cstddef>
#include <cstdint>

#include "recorder/preload/event/call.hpp"
#include "recorder/preload/event/emit_event.hpp"
#include "recorder/preload/event/snapshot.hpp"

namespace mallard::recorder {

// Of an allocation whose address is not known yet.
MALLARD_INLINE event_fields allocation_fields(event_kind kind, std::size_t size) noexcept {
  return {static_cast<unsigned>(kind) | site_bit, 0, size, 0};
}
MALLARD_INLINE event_fields aligned_fields(event_kind kind, std::size_t size,
                                           std::size_t alignment) noexcept {
  return {static_cast<unsigned>(kind) | site_bit | extra_bit, 0, size, alignment};
}

template <class Real>
MALLARD_INLINE void* record_block(const call& here, const event_fields& fields, const call_site& site,
                                  const Real& real_call) {
  if (!here.recorded()) [[unlikely]]
    return real_call();
  stopwatch watch;
  watch.start();
  void* p = real_call();
  watch.stop();
  if (current_spool() == nullptr) [[unlikely]]
    return p;
  event_fields whole = fields;
  whole.subject = reinterpret_cast<std::uintptr_t>(p);
  emit_event(whole, site, watch);
  watch.account();
  if (state.snapshots) [[unlikely]]
    emit_snapshot(site);
  return p;
}

template <class Real>
MALLARD_INLINE void* record_allocation(const call& here, event_kind kind, std::size_t size,
                                       const call_site& site, const Real& real_call) {
  return record_block(here, allocation_fields(kind, size), site, real_call);
}

template <class Real>
MALLARD_INLINE void* record_aligned(const call& here, event_kind kind, std::size_t size,
                                    std::size_t alignment, const call_site& site, const Real& real_call) {
  return record_block(here, aligned_fields(kind, size, alignment), site, real_call);
}

template <class Real>
MALLARD_INLINE void* record_reallocation(const call& here, event_kind kind, const void* old, std::size_t size,
                                         const call_site& site, const Real& real_call) {
  return record_block(
      here,
      {static_cast<unsigned>(kind) | site_bit | extra_bit, 0, size, reinterpret_cast<std::uintptr_t>(old)},
      site, real_call);
}

template <class Real>
MALLARD_INLINE void record_release(const call& here, const event_fields& fields, const call_site& site,
                                   const Real& real_call) noexcept {
  if (!here.recorded()) [[unlikely]]
    return real_call();
  stopwatch watch;
  std::uint64_t* duration = emit_event(fields, site, watch);
  watch.start();
  real_call();
  watch.stop();
  if (duration != nullptr) [[unlikely]]
    *duration = watch.duration();
  watch.account();
}

template <class Real>
MALLARD_INLINE void record_free(const call& here, event_kind kind, const void* p, const call_site& site,
                                const Real& real_call) noexcept {
  const unsigned kind_and_bits = static_cast<unsigned>(kind) | (state.free_stacks ? site_bit : 0);
  record_release(here, {kind_and_bits, reinterpret_cast<std::uintptr_t>(p), 0, 0}, site, real_call);
}

template <class Real>
MALLARD_INLINE void record_sized_free(const call& here, event_kind kind, const void* p, std::size_t size,
                                      std::size_t alignment, const call_site& site,
                                      const Real& real_call) noexcept {
  record_release(here,
                 {static_cast<unsigned>(kind) | site_bit | extra_bit, reinterpret_cast<std::uintptr_t>(p),
                  size, alignment},
                 state.free_stacks ? site : call_site{}, real_call);
}

}  // namespace mallard::recorder
