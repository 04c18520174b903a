// object: one allocation with its end, as pairing finds it.
//
//     event  12: malloc 48 ---+                     object {birth 12, death 90, size 48, ...}
//     event  90: realloc 200 -+--+                  object {birth 90, death 95, previous 12, origin moved}
//     event  95: free -----------+
//
// A reallocation ends one object and begins the next, which names the one that it came from: a chain.
// A death's kind is what the event means: a reallocation to nothing, which begins no object, is a free.
// Times are ns since recording began. A block of a region is an object, too, and lies inside blocks of
// the malloc family: sums over one family leave out the other.
//
// `between` counts the objects of the same family that the birth thread began after this one's birth and
// before its death (or the journal's end), those begun by a reallocation included, whoever ended this one:
// 0 says that it was the thread's last allocation when it was freed. The event that ended it counts in no
// case.
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
  std::uint64_t birth = 0;            // number of the event that began it
  std::uint64_t death = no_event;     // of the one that ended it; no_event: it lived on
  std::uint64_t previous = no_event;  // birth of the object that it was reallocated from
  std::uint64_t birth_time = 0;       // ns
  std::uint64_t death_time = 0;       // ns; 0: it lived on
  std::uint64_t address = 0;
  std::uint64_t size = 0;       // bytes requested
  std::uint64_t alignment = 0;  // bytes asked for; 0: the default
  std::uint64_t between = 0;    // allocations of its birth thread between birth and death, as said above
  float birth_ns = 0;           // what the call took; 0: not timed. Of a reallocation: counted at the birth
  float death_ns = 0;
  std::uint32_t context = 0;        // of the birth: index into the journal's contexts
  std::uint32_t death_context = 0;  // 0: unknown, or it lived on
  std::uint32_t thread = 0;         // of the birth: index into the journal's threads
  std::uint32_t death_thread = 0;   // its own thread while it lives on
  std::uint32_t region = 0;         // number of the region instance, from 1; 0: the malloc family
  journal::event_kind kind = journal::event_kind::none;
  journal::event_kind death_kind = journal::event_kind::none;  // none: it lived on
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
