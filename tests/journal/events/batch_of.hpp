// batch_of: events written by hand, as the columns that a source delivers.
#pragma once

#include <cstdint>
#include <span>

#include "journal/events/event_batch.hpp"

namespace mallard::journal {

// `first` is the number of the first of them.
[[nodiscard]] inline event_batch batch_of(std::span<const event> events, std::uint64_t first = 0) {
  event_batch batch;
  batch.first = first;
  for (const event& e : events) push(batch, e);
  return batch;
}

}  // namespace mallard::journal
