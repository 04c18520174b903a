#include "journal/binary/event_decoder.hpp"

#include <algorithm>
#include <array>

namespace mallard::journal {
namespace {

constexpr std::size_t known_columns = static_cast<std::size_t>(event_column::duration) + 1;

constexpr std::uint16_t id(event_column column) { return static_cast<std::uint16_t>(column); }

// Decodes `column` of the open section into `out`, or zeros it where the section has none.
template <class T>
void decode(table_decoder& decoder, const std::array<const column_header*, known_columns>& found,
            event_column column, std::vector<T>& out, std::span<const std::uint64_t> history = {}) {
  if (const column_header* header = found[id(column)]) {
    decoder.numbers(*header, std::span<T>(out), history);
  } else {
    std::fill(out.begin(), out.end(), T{});
  }
}

// The column that back-references in `header` go into: the same or one decoded before it, since a later one
// still holds the batch before.
std::span<const std::uint64_t> history_of(const column_header* header, const event_batch& batch) {
  if (header == nullptr || header->encoding != encoding::back_reference || header->reference > header->id)
    return {};
  switch (static_cast<event_column>(header->reference)) {
    case event_column::address:
      return batch.address;
    case event_column::region:
      return batch.region;
    default:
      return {};
  }
}

}  // namespace

void decode_events(table_decoder& decoder, std::size_t rows, event_batch& batch) {
  batch.resize(rows);
  std::array<const column_header*, known_columns> found{};
  for (const column_header& header : decoder.columns()) {
    if (header.id < known_columns) found[header.id] = &header;
  }
  decode(decoder, found, event_column::kind, batch.kind);
  decoder.set_kinds(batch.kind);
  decode(decoder, found, event_column::time, batch.time);
  decode(decoder, found, event_column::thread, batch.thread);
  decode(decoder, found, event_column::context, batch.context);
  decode(decoder, found, event_column::address, batch.address,
         history_of(found[id(event_column::address)], batch));
  decode(decoder, found, event_column::size, batch.size);
  decode(decoder, found, event_column::alignment, batch.alignment);
  decode(decoder, found, event_column::old_address, batch.old_address,
         history_of(found[id(event_column::old_address)], batch));
  decode(decoder, found, event_column::region, batch.region,
         history_of(found[id(event_column::region)], batch));
  decode(decoder, found, event_column::parent, batch.parent,
         history_of(found[id(event_column::parent)], batch));
  decode(decoder, found, event_column::duration, batch.duration);
}

}  // namespace mallard::journal
