// region_calls: the event of an entry point of a region allocator, once, however it gets its work done.
//
//     apr_pcalloc here -> real apr_pcalloc -> apr_palloc here: an event, and none for apr_pcalloc then
//
// Allocators call their own entry points in some builds and not in others. One that makes an event after
// its real call makes none if a call inside has made it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "recorder/preload/region/library_function.hpp"
#include "recorder/preload/region/region_events.hpp"

// The function of this name that the code at `caller` means.
#define MALLARD_REAL_FOR(name, caller)                                                      \
  ([](const void* asking) {                                                                 \
    static constinit ::mallard::recorder::library_function<decltype(name)> real_one(#name); \
    return real_one.find(asking);                                                           \
  }(caller))

// The real function of the entry point that this is used in.
#define MALLARD_REAL(name) MALLARD_REAL_FOR(name, __builtin_return_address(0))

namespace mallard::recorder {

// How many events of regions this thread has made.
extern thread_local constinit std::uint32_t region_calls;

class region_call {
 public:
  // Whether no call inside has made the event.
  [[nodiscard]] bool is_silent() const noexcept { return region_calls == before_; }

 private:
  std::uint32_t before_ = region_calls;
};

MALLARD_INLINE void count_region(event_kind kind, const void* region, const void* extra, std::size_t size,
                                 const call_site& site) noexcept {
  ++region_calls;
  note_region(kind, region, extra, size, site);
}

}  // namespace mallard::recorder
