#include "journal/binary/table_encoder.hpp"

#include <algorithm>

namespace mallard::journal {
namespace {

// A gap costs about a byte, so a sparse column pays when values are at least this rare.
constexpr std::size_t sparse_when_one_in = 8;

std::size_t varint_total(std::span<const std::uint64_t> values) {
  std::size_t total = 0;
  for (const std::uint64_t value : values) total += varint_size(value);
  return total;
}

std::size_t delta_total(std::span<const std::uint64_t> values) {
  std::size_t total = 0;
  std::uint64_t before = 0;
  for (const std::uint64_t value : values) {
    total += varint_size(zigzag(value - before));
    before = value;
  }
  return total;
}

// Compares the values with themselves, one place on, which memcmp does faster than a loop.
bool all_zero(std::span<const std::uint64_t> values) {
  return values.empty() || (values[0] == 0 && std::memcmp(values.data(), values.data() + 1,
                                                          values.size_bytes() - sizeof(values[0])) == 0);
}

unsigned char* put_varints(unsigned char* to, std::span<const std::uint64_t> values) {
  for (const std::uint64_t value : values) to = put_varint(to, value);
  return to;
}

std::size_t text_bytes(const std::vector<std::string>& texts) {
  std::size_t total = 0;
  for (const std::string& text : texts) total += text.size() + max_varint_size;
  return total;
}

void check(const table& rows) {
  if (rows.rows > max_section_rows || rows.columns.size() > max_section_columns ||
      rows.rows * rows.columns.size() > max_table_values) {
    throw error("a table is too large for one section of a journal");
  }
  for (const table_column& column : rows.columns) {
    const auto length = std::visit([](const auto& values) { return values.size(); }, column.values);
    if (length != rows.rows) throw error("a column's length is not its table's");
    const auto* texts = std::get_if<std::vector<std::string>>(&column.values);
    if (texts != nullptr && text_bytes(*texts) > max_column_size) {
      throw error("a table's texts are too long for one section of a journal");
    }
  }
}

}  // namespace

void table_encoder::begin(std::size_t rows) {
  rows_ = rows;
  builder_.begin();
}

void table_encoder::reserve(std::size_t bytes) {
  if (scratch_.size() < bytes) scratch_.resize(bytes);
}

// Decides which rows of `values` are present, and collects them in dense_; false if all are zero.
bool table_encoder::select(column_header& header, std::span<const std::uint64_t> values) {
  if (all_zero(values)) return false;
  const auto zeros = static_cast<std::size_t>(std::count(values.begin(), values.end(), 0U));
  const std::size_t nonzero = rows_ - zeros;
  present_.clear();
  if (nonzero * sparse_when_one_in > rows_) {
    dense_.assign(values.begin(), values.end());
    return true;
  }
  header.presence = presence::sparse;
  header.where = nonzero;
  dense_.clear();
  for (std::size_t row = 0; row < rows_; ++row) {
    if (values[row] == 0) continue;
    present_.push_back(static_cast<std::uint32_t>(row));
    dense_.push_back(values[row]);
  }
  return true;
}

// Starts the data of a column: room for it, and the gaps between present rows if it is sparse.
unsigned char* table_encoder::start_data(const column_header& header) {
  reserve((present_.size() + 2 * dense_.size()) * max_varint_size);
  unsigned char* to = scratch_.data();
  if (header.presence != presence::sparse) return to;
  std::uint32_t expected = 0;
  for (const std::uint32_t row : present_) {
    to = put_varint(to, row - expected);
    expected = row + 1;
  }
  return to;
}

// Makes a column of dense_, encoded as the header says, or constant if it is.
void table_encoder::encode_present(column_header& header) {
  if (std::all_of(dense_.begin(), dense_.end(), [&](std::uint64_t v) { return v == dense_.front(); })) {
    header.encoding = encoding::constant;
  }
  unsigned char* to = start_data(header);
  switch (header.encoding) {
    case encoding::constant:
      to = put_varint(to, dense_.front());
      break;
    case encoding::delta:
      to = put_deltas(to, dense_);
      break;
    case encoding::raw:
      std::memcpy(to, dense_.data(), dense_.size() * sizeof(std::uint64_t));
      to += dense_.size() * sizeof(std::uint64_t);
      break;
    default:
      header.encoding = encoding::varint;
      to = put_varints(to, dense_);
      break;
  }
  close(header, to);
}

// Makes what scratch_ holds up to `end` the next column.
void table_encoder::close(const column_header& header, const unsigned char* end) {
  builder_.add(header, {scratch_.data(), end});
}

void table_encoder::numbers(std::uint16_t id, encoding how, std::span<const std::uint64_t> values) {
  column_header header{.id = id, .encoding = how};
  if (select(header, values)) encode_present(header);
}

void table_encoder::numbers(std::uint16_t id, std::span<const std::uint64_t> values) {
  column_header header{.id = id};
  if (!select(header, values)) return;
  const std::size_t varint = varint_total(dense_);
  const std::size_t delta = delta_total(dense_);
  header.encoding = delta < varint ? encoding::delta : encoding::varint;
  if (std::min(delta, varint) > dense_.size() * sizeof(std::uint64_t)) header.encoding = encoding::raw;
  encode_present(header);
}

void table_encoder::back_references(std::uint16_t id, std::span<const std::uint64_t> values,
                                    std::uint16_t reference, std::span<const std::uint64_t> history) {
  column_header header{.id = id, .encoding = encoding::back_reference, .reference = reference};
  if (!select(header, values)) return;

  // dense_ becomes the distances, fresh_ collects the numbers that are new.
  last_rows_.clear();
  fresh_.clear();
  std::size_t next = 0;
  std::size_t distance = 0;
  for (std::size_t row = 0; row < rows_; ++row) {
    const bool every = header.presence == presence::every;
    if (every || (next < present_.size() && present_[next] == row)) {
      const bool goes_on = distance != 0 && distance <= row && history[row - distance] == dense_[next];
      if (!goes_on) distance = last_rows_.distance(dense_[next], row);
      if (distance == 0) fresh_.push_back(dense_[next]);
      dense_[next++] = distance;
    }
    if (history[row] != 0) last_rows_.record(history[row], row);
  }
  unsigned char* to = put_varints(start_data(header), dense_);
  close(header, put_deltas(to, fresh_));
}

void table_encoder::encode(const table& rows) {
  check(rows);
  begin(rows.rows);
  for (const table_column& column : rows.columns) {
    if (const auto* values = std::get_if<std::vector<std::uint64_t>>(&column.values)) {
      numbers(column.id, *values);
    } else {
      texts(column.id, std::get<std::vector<std::string>>(column.values));
    }
  }
}

void table_encoder::texts(std::uint16_t id, std::span<const std::string> values) {
  std::size_t total = 0;
  for (const std::string& text : values) total += text.size() + max_varint_size;
  if (total == rows_ * max_varint_size) return;  // empty in every row
  reserve(total);
  unsigned char* to = scratch_.data();
  for (const std::string& text : values) to = put_varint(to, text.size());
  for (const std::string& text : values) to = std::copy(text.begin(), text.end(), to);
  close({.id = id, .encoding = encoding::texts}, to);
}

}  // namespace mallard::journal
