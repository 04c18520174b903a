// table_codec: a table in memory to and from the payload of a section.
#pragma once

#include "journal/binary/table_decoder.hpp"
#include "journal/binary/table_encoder.hpp"
#include "journal/events/table.hpp"

namespace mallard::journal {

// The payload is in the encoder afterwards. Throws journal::error where the table is larger than
// a section may be, or its columns are not as long as it says.
void encode_table(table_encoder& encoder, const table& rows);

// What the decoder has open, without columns encoded in ways that came after this version; throws
// malformed.
[[nodiscard]] table decode_table(table_decoder& decoder, section_type type, std::size_t rows);

}  // namespace mallard::journal
