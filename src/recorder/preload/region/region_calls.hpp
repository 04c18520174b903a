// region_calls: something happened to a region, as an event of this thread: by an annotation, or in an entry
// point of a region allocator, and then once, however the allocator gets its work done.
//
//     apr_pcalloc here -> real apr_pcalloc -> apr_palloc here: an event, and none for apr_pcalloc then
//
// What a real function allocates meanwhile is recorded as ever, so the event stands before or after that, and
// not around it. Allocators call their own entry points in some builds and not in others: one that makes an
// event after its real call makes none if a call inside has made it. What happens inside malloc is not the
// program's.
//
// library_function: a function of a library that the program may or may not have, and that is interposed
// here: the next one in the program's order of lookup, or else the caller's own.
//
//     program -> apr_palloc here -> the next apr_palloc among the libraries that everybody sees
//     plug-in -> apr_palloc here -> the apr_palloc of the libraries that the plug-in came with
//
// It is looked up when it is first needed and then kept, with its library. What the lookup allocates is not
// the program's. Null if there is none: then the program called a function that it does not have.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "journal/spool/spool.hpp"
#include "mallard/core/attributes.hpp"
#include "recorder/preload/event/call.hpp"
#include "recorder/preload/event/emit_event.hpp"

namespace mallard::recorder {

// The function as the code at `caller` would find it without this library.
[[nodiscard]] void* find_library_function(const char* name, const void* caller) noexcept;

template <class Function>
class library_function {
 public:
  constexpr explicit library_function(const char* name) noexcept : name_(name) {}

  [[nodiscard]] MALLARD_INLINE Function* find(const void* caller) noexcept {
    if (void* known = found_.load(std::memory_order_acquire)) [[likely]]
      return reinterpret_cast<Function*>(known);
    void* found = find_library_function(name_, caller);
    found_.store(found, std::memory_order_release);
    return reinterpret_cast<Function*>(found);
  }

 private:
  const char* name_;
  std::atomic<void*> found_{nullptr};
};

}  // namespace mallard::recorder

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

// Moves the names of this thread's scopes to another spool, for a child that gets one of its own
// (annotations.cpp).
void move_scopes(journal::spool_header* from, journal::spool_header* to) noexcept;

}  // namespace mallard::recorder
