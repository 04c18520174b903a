// event_decoder: a batch of events from the payload of an "evnt" section.
//
// The transforms follow what the columns are: times rise, addresses come back. Less than 20 ns an
// event.
#pragma once

#include "journal/binary/table_decoder.hpp"
#include "journal/events/event_batch.hpp"

namespace mallard::journal {

// Replaces the contents of `batch` by what the decoder has open; throws malformed.
void decode_events(table_decoder& decoder, std::size_t rows, event_batch& batch);

}  // namespace mallard::journal
