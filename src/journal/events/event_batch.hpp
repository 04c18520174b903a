// event_batch: events of one process, decoded, as columns of equal length; `event`, one row of them, as a
// recorder hands it to the writer; and owed_frees, for those who pair events.
//
// Every form a journal comes in (binary, text, .xz) is read as a sequence of batches. A batch is reused by
// its source from call to call, so that reading allocates nothing per event. Fields that a kind does not have
// are 0, and zeros cost nothing in the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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

struct event_batch {
  std::uint64_t first = 0;  // number of the first event; lost ones count
  std::vector<event_kind> kind;
  std::vector<std::uint64_t> time;         // ticks of the journal's clock since recording began
  std::vector<std::uint32_t> thread;       // index into the thread table, dense from 0
  std::vector<std::uint32_t> context;      // index into the context table, 0: unknown
  std::vector<std::uint64_t> address;      // result of an allocation, argument of a free; 0: null
  std::vector<std::uint64_t> size;         // bytes requested; 0 where the kind has none
  std::vector<std::uint64_t> alignment;    // bytes asked for; 0: the default
  std::vector<std::uint64_t> old_address;  // realloc kinds: the block passed in; else 0
  std::vector<std::uint64_t> region;       // region kinds: which; else 0
  std::vector<std::uint64_t> parent;       // region_create: its parent, 0: a root; else 0
  std::vector<std::uint64_t> duration;     // ticks the real call took; 0: not timed (most are not)

  [[nodiscard]] std::size_t count() const noexcept { return kind.size(); }

  // The number of its first event, where `due` is one more than the last one's: numbers never fall, and one
  // that is too large can only be damage.
  [[nodiscard]] std::uint64_t number_of_first(std::uint64_t due) const noexcept {
    return first > due && first <= UINT64_MAX / 2 ? first : due;
  }

  // Gives every column `rows` elements; new ones are 0.
  void resize(std::size_t rows) {
    kind.resize(rows);
    for (auto* const column : {&time, &address, &size, &alignment, &old_address, &region, &parent, &duration})
      column->resize(rows);
    for (auto* const column : {&thread, &context}) column->resize(rows);
  }
};

inline void push(event_batch& batch, const event& e) {
  batch.kind.push_back(e.kind);
  batch.time.push_back(e.time);
  batch.thread.push_back(e.thread);
  batch.context.push_back(e.context);
  batch.address.push_back(e.address);
  batch.size.push_back(e.size);
  batch.alignment.push_back(e.alignment);
  batch.old_address.push_back(e.old_address);
  batch.region.push_back(e.region);
  batch.parent.push_back(e.parent);
  batch.duration.push_back(e.duration);
}

// owed_frees: how many frees of an address are still to come of blocks that had it before.
//
// Threads race to be recorded, so an address can be allocated again before its free is seen: then the old
// block has ended all the same, and its free ends nothing. A race takes moments. A free that comes more than
// a second later is the present block's: what was owed has never been recorded.
class owed_frees {
 public:
  // A block has ended at `ns` without its free.
  void owe(std::uint64_t ns) noexcept {
    if (count_ != UINT8_MAX) ++count_;
    since_ = units(ns) & unit_mask;
  }

  // Whether a free at `ns` is one of those owed, of which it is none afterwards.
  [[nodiscard]] bool pay(std::uint64_t ns) noexcept {
    if (count_ == 0) return false;
    const bool is_late = ((units(ns) - since_) & unit_mask) > longest_race;
    if (is_late)
      count_ = 0;
    else
      --count_;
    return !is_late;
  }

  [[nodiscard]] bool any() const noexcept { return count_ != 0; }

 private:
  static constexpr std::uint32_t unit_mask = 0xffffff;
  static constexpr std::uint32_t longest_race = 15;  // units

  // Of 67 ms.
  static std::uint32_t units(std::uint64_t ns) noexcept { return static_cast<std::uint32_t>(ns >> 26); }

  std::uint32_t count_ : 8 = 0;
  std::uint32_t since_ : 24 = 0;  // of the latest
};

}  // namespace mallard::journal
