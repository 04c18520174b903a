#include "journal/binary/table_decoder.hpp"

#include <algorithm>
#include <limits>

namespace mallard::journal {
namespace {

template <class T>
T narrowed(std::uint64_t value) {
  if constexpr (sizeof(T) < sizeof(value)) {
    if (value > (std::uint64_t{1} << (8 * sizeof(T))) - 1) throw malformed("a number in it is too large");
  }
  return static_cast<T>(value);
}

}  // namespace

void table_decoder::open(byte_span payload, std::size_t rows) {
  byte_reader from(payload);
  const std::size_t count = from.number<std::uint32_t>();
  if (rows > max_section_rows || count > max_section_columns) throw malformed("it is too large");
  payload_ = payload;
  rows_ = rows;
  kinds_ = {};
  columns_.clear();
  offsets_.clear();
  std::size_t raw_total = 0;
  std::size_t offset = sizeof(std::uint32_t) + count * column_header_size;
  for (std::size_t i = 0; i < count; ++i) {
    columns_.push_back(load_column_header(from.take(column_header_size).data()));
    offsets_.push_back(offset);
    offset += columns_.back().stored_size;
    raw_total += columns_.back().raw_size;
    if (columns_.back().raw_size > max_column_size || raw_total > max_section_size) {
      throw malformed("it is too large");
    }
  }
  if (offset != payload.size()) throw malformed("its columns do not fill it");
}

// The bytes of a column before compression; `column` is one of columns().
byte_span table_decoder::data(const column_header& column) {
  const auto index = static_cast<std::size_t>(&column - columns_.data());
  const byte_span stored = payload_.subspan(offsets_[index], column.stored_size);
  switch (column.compression) {
    case compression::none:
      if (column.raw_size != column.stored_size) break;
      return stored;
    case compression::zstd:
      return decompressor_.decompress(stored, column.raw_size);
  }
  throw malformed("a column in it is compressed in a way that this program does not know");
}

// Fills present_ unless every row has a value; returns the number of rows that have one.
std::size_t table_decoder::find_present(const column_header& column, byte_reader& from) {
  present_.clear();
  switch (column.presence) {
    case presence::every:
      return rows_;
    case presence::kinds: {
      if (kinds_.size() != rows_) throw malformed("its kinds are missing");
      present_.resize(rows_);
      std::size_t count = 0;
      for (std::size_t row = 0; row < rows_; ++row) {
        const auto kind = static_cast<unsigned>(kinds_[row]);
        present_[count] = static_cast<std::uint32_t>(row);
        count += static_cast<std::size_t>(kind < 64) & (column.where >> (kind & 63)) & 1;
      }
      present_.resize(count);
      return count;
    }
    case presence::sparse: {
      if (column.where > rows_) throw malformed("it has more values than rows");
      std::uint64_t row = 0;
      for (std::uint64_t i = 0; i < column.where; ++i) {
        const std::uint64_t gap = from.varint();
        if (gap >= rows_ - row) throw malformed("it has a value behind its last row");
        row += gap;
        present_.push_back(static_cast<std::uint32_t>(row++));
      }
      return present_.size();
    }
  }
  throw malformed("it uses a presence that this program does not know");
}

// Decodes out.size() values that lie one after the other.
template <class T>
void table_decoder::values(const column_header& column, byte_reader& from, std::span<T> out) {
  switch (column.encoding) {
    case encoding::constant:
      std::fill(out.begin(), out.end(), narrowed<T>(from.varint()));
      return;
    case encoding::bytes: {
      const byte_span bytes = from.take(out.size());
      std::transform(bytes.begin(), bytes.end(), out.begin(),
                     [](unsigned char b) { return static_cast<T>(b); });
      return;
    }
    case encoding::varint:
      for (T& value : out) value = narrowed<T>(from.varint());
      return;
    case encoding::delta: {
      std::uint64_t last = 0;
      for (T& value : out) {
        last += unzigzag(from.varint());
        value = narrowed<T>(last);
      }
      return;
    }
    case encoding::raw:
      for (T& value : out) value = narrowed<T>(from.number<std::uint64_t>());
      return;
    case encoding::texts:
    case encoding::back_reference:
      break;
  }
  throw malformed("it uses an encoding that this program does not know here");
}

// Decodes the distances first, because the new values stand behind all of them.
template <class T>
void table_decoder::back_references(const column_header& column, byte_reader& from, std::span<T> out,
                                    std::span<const std::uint64_t> history) {
  if (history.size() != rows_) throw malformed("it refers to a column that is missing");
  const bool every = column.presence == presence::every;
  for (std::uint64_t& distance : dense_) distance = from.varint();
  std::uint64_t last_new = 0;
  for (std::size_t i = 0; i < dense_.size(); ++i) {
    const std::size_t row = every ? i : present_[i];
    const std::uint64_t distance = dense_[i];
    if (distance > row) throw malformed("it refers to a row before its first");
    if (distance == 0) last_new += unzigzag(from.varint());
    out[row] = narrowed<T>(distance == 0 ? last_new : history[row - distance]);
  }
}

template <class T>
void table_decoder::numbers(const column_header& column, std::span<T> out,
                            std::span<const std::uint64_t> history) {
  byte_reader from(data(column));
  const std::size_t count = find_present(column, from);
  const bool every = column.presence == presence::every;
  if (!every) std::fill(out.begin(), out.end(), T{});
  if (column.encoding == encoding::back_reference) {
    dense_.resize(count);
    back_references(column, from, out, history);
  } else if (every) {
    values(column, from, out);
  } else {
    dense_.resize(count);
    values<std::uint64_t>(column, from, dense_);
    for (std::size_t i = 0; i < count; ++i) out[present_[i]] = narrowed<T>(dense_[i]);
  }
  if (from.left() != 0) throw malformed("a column in it is too long");
}

template void table_decoder::numbers(const column_header&, std::span<std::uint64_t>,
                                     std::span<const std::uint64_t>);
template void table_decoder::numbers(const column_header&, std::span<std::uint32_t>,
                                     std::span<const std::uint64_t>);
template void table_decoder::numbers(const column_header&, std::span<event_kind>,
                                     std::span<const std::uint64_t>);

void table_decoder::texts(const column_header& column, std::vector<std::string>& out) {
  if (column.encoding != encoding::texts || column.presence != presence::every) {
    throw malformed("it uses an encoding that this program does not know here");
  }
  byte_reader from(data(column));
  dense_.resize(rows_);
  for (std::uint64_t& length : dense_) length = from.varint();
  out.resize(rows_);
  for (std::size_t row = 0; row < rows_; ++row) {
    const byte_span text = from.take(dense_[row]);
    out[row].assign(text.begin(), text.end());
  }
  if (from.left() != 0) throw malformed("a column in it is too long");
}

table table_decoder::decode(section_type type) {
  table decoded{.type = type, .rows = rows_};
  for (const column_header& header : columns_) {
    if (!is_known(header)) continue;
    if ((decoded.columns.size() + 1) * rows_ > max_table_values) throw malformed("it is too large");
    table_column column{.id = header.id};
    if (header.encoding == encoding::texts) {
      texts(header, column.values.emplace<std::vector<std::string>>());
    } else {
      auto& decoding = column.values.emplace<std::vector<std::uint64_t>>(rows_);
      std::span<const std::uint64_t> history;
      if (header.reference == header.id) {
        history = decoding;
      } else if (const auto* earlier = decoded.numbers(header.reference)) {
        history = *earlier;
      }
      numbers(header, std::span<std::uint64_t>(decoding), history);
    }
    decoded.columns.push_back(std::move(column));
  }
  return decoded;
}

}  // namespace mallard::journal
