// event_codec: a batch of events to and from the payload of an "evnt" section.
//
// The transforms follow what the columns are: times rise, addresses come back. About 20 ns an
// event to encode, less to decode.
#pragma once

#include "journal/event_batch.hpp"
#include "journal/table_decoder.hpp"
#include "journal/table_encoder.hpp"

namespace mallard::journal {

// The payload is in the encoder afterwards.
void encode_events(table_encoder& encoder, const event_batch& batch);

// Replaces the contents of `batch` by what the decoder has open; throws malformed.
void decode_events(table_decoder& decoder, std::size_t rows, event_batch& batch);

// Gives every column `rows` elements.
void resize(event_batch& batch, std::size_t rows);

}  // namespace mallard::journal
