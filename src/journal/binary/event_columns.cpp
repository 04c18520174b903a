#include "journal/binary/event_columns.hpp"

#include <algorithm>
#include <array>

namespace mallard::journal {
namespace {

constexpr unsigned mask_kinds = 64;  // as many can a mask of kinds name

}  // namespace

event_encoder::event_encoder()
    : times_(max_rows),
      threads_(max_rows),
      contexts_(max_rows),
      sizes_(max_rows),
      distances_(2 * max_rows),
      fresh_(max_rows),
      last_addresses_(max_rows) {
  for (std::size_t kind = 0; kind < mask_kinds; ++kind) {
    const auto known = static_cast<event_kind>(kind);
    if (is_allocation(known) || is_reallocation(known)) columns_of_kind_[kind] = has_address | has_size;
    if (is_free(known)) columns_of_kind_[kind] = has_address;
  }
}

// Lets events of this kind have the columns `given`; false if the chunk has to end first.
bool event_encoder::widen(std::uint8_t kind, unsigned given) {
  if (kind >= mask_kinds) {
    if (rows_ > 0) return false;
    every_ |= given;
    for (std::uint8_t& columns : columns_of_kind_) columns = static_cast<std::uint8_t>(columns | given);
    return true;
  }
  if (rows_of_kind_[kind] > 0) return false;
  columns_of_kind_[kind] = static_cast<std::uint8_t>(columns_of_kind_[kind] | given);
  return true;
}

// What most events have not; before the event's own address is noted.
void event_encoder::append_rare(const event& e) {
  const auto kind = static_cast<std::uint8_t>(e.kind);
  if (e.alignment != 0) add_rare(alignments_, kind, e.alignment);
  if (e.old_address != 0)
    add_back_reference(old_addresses_, kind, e.old_address, last_addresses_.distance(e.old_address, rows_));
  if (e.parent != 0) add_back_reference(parents_, kind, e.parent, last_regions_.distance(e.parent, rows_));
  if (e.region != 0) {
    add_back_reference(regions_, kind, e.region, last_regions_.distance(e.region, rows_));
    last_regions_.record(e.region, rows_);
  }
  if (e.duration != 0) add_rare(durations_, kind, e.duration);
  if (e.thread != thread_ && rows_ > 0 && !threads_vary_) {
    threads_vary_ = true;
    for (std::size_t row = 0; row < rows_; ++row) threads_.put(thread_);
  }
  thread_ = e.thread;
}

void event_encoder::add_rare(rare_column& column, std::uint8_t kind, std::uint64_t value) {
  column.rows.push_back(static_cast<std::uint32_t>(rows_));
  column.values.push_back(value);
  column.kinds[kind / 64] |= std::uint64_t{1} << (kind % 64);
}

void event_encoder::add_back_reference(rare_column& column, std::uint8_t kind, std::uint64_t value,
                                       std::size_t distance) {
  add_rare(column, kind, distance);
  if (distance == 0) column.fresh.push_back(value);
}

// A column whose rows are those of the kinds that have it.
void event_encoder::put_by_kinds(event_column id, unsigned bit, encoding how, byte_span data) {
  if (data.empty()) return;
  column_header header{.id = static_cast<std::uint16_t>(id), .encoding = how};
  if (how == encoding::back_reference) header.reference = header.id;
  if ((every_ & bit) == 0) {
    header.presence = presence::kinds;
    for (unsigned kind = 0; kind < mask_kinds; ++kind) {
      if ((columns_of_kind_[kind] & bit) != 0) header.where |= std::uint64_t{1} << kind;
    }
  }
  builder_.add(header, data, effort::low);
}

// Names its rows by their kinds, where these are all rows of those, else one by one.
void event_encoder::put_rare(rare_column& column) {
  if (column.rows.empty()) return;
  std::size_t of_kinds = 0;
  for (unsigned kind = 0; kind < mask_kinds; ++kind)
    of_kinds += ((column.kinds[0] >> kind) & 1) * rows_of_kind_[kind];
  const bool by_kinds =
      of_kinds == column.rows.size() && (column.kinds[1] | column.kinds[2] | column.kinds[3]) == 0;

  rare_bytes_.resize((column.rows.size() + column.values.size() + column.fresh.size()) * max_varint_size);
  unsigned char* to = rare_bytes_.data();
  std::uint32_t expected = 0;
  for (const std::uint32_t row : column.rows) {
    if (!by_kinds) to = put_varint(to, row - expected);
    expected = row + 1;
  }
  for (const std::uint64_t value : column.values) to = put_varint(to, value);
  to = put_deltas(to, column.fresh);
  builder_.add({.id = static_cast<std::uint16_t>(column.id),
                .encoding = column.how,
                .presence = by_kinds ? presence::kinds : presence::sparse,
                .reference = static_cast<std::uint16_t>(column.reference),
                .where = by_kinds ? column.kinds[0] : column.rows.size()},
               {rare_bytes_.data(), to}, effort::low);
  column.rows.clear();
  column.values.clear();
  column.fresh.clear();
  column.kinds = {};
}

byte_span event_encoder::payload() {
  const auto id = [](event_column column) { return static_cast<std::uint16_t>(column); };
  builder_.begin();
  builder_.add({.id = id(event_column::kind), .encoding = encoding::bytes}, {kinds_.data(), rows_},
               effort::low);
  builder_.add({.id = id(event_column::time), .encoding = encoding::delta}, times_.bytes(), effort::none);
  if (!threads_vary_ && thread_ != 0) threads_.put(thread_);
  if (threads_vary_ || thread_ != 0) {
    builder_.add(
        {.id = id(event_column::thread), .encoding = threads_vary_ ? encoding::varint : encoding::constant},
        threads_.bytes(), effort::low);
  }
  put_by_kinds(event_column::context, has_context, encoding::delta, contexts_.bytes());
  distances_.put_all(fresh_);
  put_by_kinds(event_column::address, has_address, encoding::back_reference, distances_.bytes());
  put_by_kinds(event_column::size, has_size, encoding::varint, sizes_.bytes());
  put_rare(alignments_);
  put_rare(old_addresses_);
  put_rare(regions_);
  put_rare(parents_);
  put_rare(durations_);
  return builder_.payload();
}

void event_encoder::clear() {
  last_addresses_.clear(rows_);
  last_regions_.clear();
  for (varint_column* column : {&times_, &threads_, &contexts_, &sizes_, &distances_, &fresh_})
    column->clear();
  rows_of_kind_.fill(0);
  threads_vary_ = false;
  last_time_ = 0;
  last_context_ = 0;
  last_fresh_ = 0;
  rows_ = 0;
}

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
