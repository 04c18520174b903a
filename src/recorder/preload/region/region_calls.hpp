// region_calls: something happened to a region, as an event of this thread: by an annotation, or in an entry
// point of a region allocator, and then once, however the allocator gets its work done.
//
//     apr_pcalloc here -> real apr_pcalloc -> apr_palloc here: an event, and none for apr_pcalloc then
//
// What a real function allocates meanwhile is recorded as ever, so the event stands before or after that, and
// not around it. Allocators call their own entry points in some builds and not in others: one that makes an
// event after its real call makes none if a call inside has made it. What happens inside malloc is not the
// program's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "recorder/preload/event/call.hpp"
#include "recorder/preload/event/emit_event.hpp"
#include "recorder/preload/region/library_function.hpp"

// The function of this name that the code at `caller` means.
#define MALLARD_REAL_FOR(name, caller)                                                      \
  ([](const void* asking) {                                                                 \
    static constinit ::mallard::recorder::library_function<decltype(name)> real_one(#name); \
    return real_one.find(asking);                                                           \
  }(caller))

// The real function of the entry point that this is used in.
#define MALLARD_REAL(name) MALLARD_REAL_FOR(name, __builtin_return_address(0))

namespace mallard::recorder {

// `extra` is a block of the region, or of a region_create the parent.
MALLARD_INLINE void record_region(event_kind kind, const void* region, const void* extra, std::size_t size,
                                  const call_site& site) noexcept {
  const call here;
  if (!here.recorded()) [[unlikely]]
    return;
  stopwatch watch;  // gcc's code for a const one is longer  NOLINT(misc-const-correctness)
  emit_event({static_cast<unsigned>(kind) | site_bit | extra_bit, reinterpret_cast<std::uintptr_t>(region),
              size, reinterpret_cast<std::uintptr_t>(extra)},
             site, watch);
  watch.account();
}

// How many events of regions this thread has made.
inline thread_local constinit std::uint32_t region_calls = 0;

class region_call {
 public:
  // Whether no call inside has made the event.
  [[nodiscard]] bool is_silent() const noexcept { return region_calls == before_; }

 private:
  std::uint32_t before_ = region_calls;
};

MALLARD_INLINE void record_counted_region(event_kind kind, const void* region, const void* extra,
                                          std::size_t size, const call_site& site) noexcept {
  ++region_calls;
  record_region(kind, region, extra, size, site);
}

}  // namespace mallard::recorder
