// batch_of: events written by hand, as the columns that a source delivers.
#pragma once

#include <cstdint>
#include <span>

#include "journal/event.hpp"
#include "journal/event_batch.hpp"

namespace mallard::journal {

// `first` is the number of the first of them.
[[nodiscard]] inline event_batch batch_of(std::span<const event> events, std::uint64_t first = 0) {
  event_batch batch;
  batch.first = first;
  for (const event& e : events) {
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
  return batch;
}

}  // namespace mallard::journal
