// object: one allocation with its end, as pairing finds it.
//
//     event  12: malloc 48 ---+                     object {allocation 12, free 90, size 48, ...}
//     event  90: realloc 200 -+--+                  object {allocation 90, free 95, previous 12, moved}
//     event  95: free -----------+
//
// A reallocation ends one object and begins the next, which names the one that it came from: a chain.
// `free` is whatever ended it: a call, a reallocation, or the end of its region. `free_kind` is what the
// event means: a reallocation to nothing, which begins no object, is a free.
// Times are ns since recording began. A block of a region is an object, too, and lies inside blocks of
// the malloc family: sums over one family leave out the other.
//
// `between` counts the objects of the same family that the allocating thread began after this one's
// allocation and before its free (or the journal's end), those begun by a reallocation included, whichever
// thread ended this one: 0 says that it was the thread's last allocation when it was freed. The event that
// ended it counts in no case.
#pragma once

#include <bit>
#include <cstdint>

#include "mallard/journal/event.hpp"

namespace mallard::profile {

// In place of an event's number: there is none.
inline constexpr std::uint64_t no_event = UINT64_MAX;

enum class origin : std::uint8_t {
  fresh = 0,     // an allocation
  in_place = 1,  // a reallocation that kept the address
  moved = 2,     // a reallocation that did not
};

struct object {
  std::uint64_t allocation = 0;       // number of the event that began it
  std::uint64_t free = no_event;      // of the one that ended it; no_event: never freed
  std::uint64_t previous = no_event;  // allocation of the object that it was reallocated from
  std::uint64_t allocation_time = 0;  // ns
  std::uint64_t free_time = 0;        // ns; 0: never freed
  std::uint64_t address = 0;
  std::uint64_t size = 0;       // bytes requested
  std::uint64_t alignment = 0;  // bytes asked for; 0: the default
  std::uint64_t between = 0;    // allocations of its thread between allocation and free, as said above
  float allocation_ns = 0;  // what the call took; 0: not timed. Of a reallocation: counted at the allocation
  float free_ns = 0;
  std::uint32_t context = 0;       // of the allocation: index into the journal's contexts
  std::uint32_t free_context = 0;  // 0: unknown, or never freed
  std::uint32_t thread = 0;        // of the allocation: index into the journal's threads
  std::uint32_t free_thread = 0;   // its own thread if it was never freed
  std::uint32_t region = 0;        // number of the region instance, from 1; 0: the malloc family
  journal::event_kind kind = journal::event_kind::none;
  journal::event_kind free_kind = journal::event_kind::none;  // none: never freed
  profile::origin origin = profile::origin::fresh;

  friend bool operator==(const object&, const object&) = default;
};

// Requested sizes, sorted into 64 classes, the scale of V and of every size histogram.
//
//     class     0        1  2  3  4      5 ...            62              63
//     sizes   0..8   9,10 11,12 ... 15,16  17..20 ...  .. 393216     all larger ones
//
// Four classes to a doubling, from 8 bytes to 384 KiB, so that a class is at most a quarter wide. The
// scale is fixed: V of two programs can be compared.
inline constexpr unsigned size_classes = 64;

// The class of a request of `size` bytes.
[[nodiscard]] constexpr unsigned size_class(std::uint64_t size) noexcept {
  if (size <= 8) return 0;
  const std::uint64_t last = size - 1;  // so that a power of two ends its doubling
  const auto doubling = static_cast<unsigned>(std::bit_width(last)) - 1;  // at least 3
  const auto quarter = static_cast<unsigned>(last >> (doubling - 2)) & 3;
  const unsigned found = 1 + 4 * (doubling - 3) + quarter;
  return found < size_classes ? found : size_classes - 1;
}

// The largest size of a class in bytes; of the last class, the largest that is its own scale's.
[[nodiscard]] constexpr std::uint64_t largest_of_class(unsigned number) noexcept {
  if (number == 0) return 8;
  const unsigned doubling = 3 + (number - 1) / 4;
  return (std::uint64_t{5} + (number - 1) % 4) << (doubling - 2);
}

}  // namespace mallard::profile
