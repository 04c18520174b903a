// event_batch: events of one process, decoded, as columns of equal length.
//
// Every form a journal comes in (binary, text, .xz) is read as a sequence of these. A batch is
// reused by its source from call to call, so that reading allocates nothing per event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "journal/event.hpp"

namespace mallard::journal {

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

  // Keeps the first `rows` events; there are as many.
  void shorten(std::size_t rows) {
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

}  // namespace mallard::journal
