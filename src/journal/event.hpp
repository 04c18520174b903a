// event: one row of the journal, as a recorder hands it to the writer.
//
// Fields that a kind does not have are 0, and zeros cost nothing in the file. Readers receive the
// same columns as an event_batch.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "mallard/journal/event.hpp"

namespace mallard::journal {

// Bytes; larger blocks cannot have existed, as no process has more addresses. Sums over a damaged journal may
// still wrap.
inline constexpr std::uint64_t largest_possible = std::uint64_t{1} << 47;

struct event {
  event_kind kind = event_kind::none;
  std::uint32_t thread = 0;       // from writer::add_thread
  std::uint32_t context = 0;      // from writer::intern_context; 0: unknown
  std::uint64_t time = 0;         // ticks since recording began
  std::uint64_t address = 0;      // result of an allocation (0: failed), argument of a free
  std::uint64_t size = 0;         // bytes requested
  std::uint64_t alignment = 0;    // bytes asked for; 0: the default
  std::uint64_t old_address = 0;  // realloc kinds: the block passed in
  std::uint64_t region = 0;       // region kinds: which
  std::uint64_t parent = 0;       // region_create: its parent, 0: a root
  std::uint64_t duration = 0;     // ticks the real call took; 0: not timed

  friend bool operator==(const event&, const event&) = default;
};

// The kind's name in tables and JSON, also of one that this version does not know.
[[nodiscard]] inline std::string label_of(event_kind kind) {
  const std::string_view known = name_of(kind);
  return known.empty() ? "kind_" + std::to_string(static_cast<unsigned>(kind)) : std::string(known);
}

}  // namespace mallard::journal
