#include "journal/table_encoder.hpp"

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

unsigned char* put_varints(unsigned char* to, std::span<const std::uint64_t> values) {
  for (const std::uint64_t value : values) to = put_varint(to, value);
  return to;
}

unsigned char* put_deltas(unsigned char* to, std::span<const std::uint64_t> values) {
  std::uint64_t before = 0;
  for (const std::uint64_t value : values) {
    to = put_varint(to, zigzag(value - before));
    before = value;
  }
  return to;
}

}  // namespace

void table_encoder::begin(std::size_t rows, std::span<const event_kind> kinds) {
  rows_ = rows;
  kinds_ = kinds;
  headers_.clear();
  data_.clear();
}

void table_encoder::reserve(std::size_t bytes) {
  if (scratch_.size() < bytes) scratch_.resize(bytes);
}

// Decides which rows of all_ are present and lists them; false if every row is zero.
bool table_encoder::select(column_header& header) {
  std::size_t nonzero = 0;
  std::uint64_t mask = 0;
  bool mask_covers = !kinds_.empty();
  for (std::size_t row = 0; row < rows_; ++row) {
    if (all_[row] == 0) continue;
    ++nonzero;
    if (!mask_covers) continue;
    const auto kind = static_cast<unsigned>(kinds_[row]);
    mask_covers = kind < 64;
    if (mask_covers) mask |= std::uint64_t{1} << kind;
  }
  present_.clear();
  dense_.clear();
  if (nonzero == 0) return false;

  // A column that has values for one kind has room for one in every event of that kind.
  const auto in_mask = [&](event_kind kind) {
    const auto bit = static_cast<unsigned>(kind);
    return bit < 64 && ((mask >> bit) & 1) != 0;
  };
  std::size_t candidates = rows_;
  if (mask_covers)
    candidates = static_cast<std::size_t>(std::count_if(kinds_.begin(), kinds_.end(), in_mask));

  if (nonzero * sparse_when_one_in <= candidates) {
    header.presence = presence::sparse;
    header.where = nonzero;
    for (std::size_t row = 0; row < rows_; ++row) {
      if (all_[row] != 0) present_.push_back(static_cast<std::uint32_t>(row));
    }
  } else if (candidates < rows_) {
    header.presence = presence::kinds;
    header.where = mask;
    for (std::size_t row = 0; row < rows_; ++row) {
      if (in_mask(kinds_[row])) present_.push_back(static_cast<std::uint32_t>(row));
    }
  } else {
    header.presence = presence::every;
    dense_.assign(all_.begin(), all_.end());
    return true;
  }
  for (const std::uint32_t row : present_) dense_.push_back(all_[row]);
  return true;
}

// Starts the data of a column: room for it, and the gaps between present rows if it is sparse.
unsigned char* table_encoder::start_data(const column_header& header) {
  reserve((present_.size() + 2 * dense_.size() + 1) * max_varint_size);
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
void table_encoder::encode(column_header& header) {
  if (std::all_of(dense_.begin(), dense_.end(), [&](std::uint64_t v) { return v == dense_.front(); })) {
    header.encoding = encoding::constant;
  }
  unsigned char* to = start_data(header);
  switch (header.encoding) {
    case encoding::constant:
      to = put_varint(to, dense_.front());
      break;
    case encoding::bytes:
      for (const std::uint64_t value : dense_) *to++ = static_cast<unsigned char>(value);
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

// Compresses what scratch_ holds up to `end`, where that pays, and makes it the next column.
void table_encoder::close(column_header& header, const unsigned char* end) {
  byte_span stored(scratch_.data(), end);
  header.raw_size = static_cast<std::uint32_t>(stored.size());
  if (const byte_span shorter = compressor_.compress(stored); !shorter.empty()) {
    stored = shorter;
    header.compression = compression::zstd;
  }
  header.stored_size = static_cast<std::uint32_t>(stored.size());
  data_.insert(data_.end(), stored.begin(), stored.end());
  headers_.push_back(header);
}

template <class T>
void table_encoder::numbers(std::uint16_t id, encoding how, std::span<const T> values) {
  all_.resize(rows_);
  std::transform(values.begin(), values.end(), all_.begin(),
                 [](T v) { return static_cast<std::uint64_t>(v); });
  column_header header{.id = id, .encoding = how};
  if (!select(header)) return;
  encode(header);
}

template void table_encoder::numbers(std::uint16_t, encoding, std::span<const std::uint64_t>);
template void table_encoder::numbers(std::uint16_t, encoding, std::span<const std::uint32_t>);
template void table_encoder::numbers(std::uint16_t, encoding, std::span<const event_kind>);

void table_encoder::numbers(std::uint16_t id, std::span<const std::uint64_t> values) {
  all_.assign(values.begin(), values.end());
  column_header header{.id = id};
  if (!select(header)) return;
  const std::size_t varint = varint_total(dense_);
  const std::size_t delta = delta_total(dense_);
  header.encoding = delta < varint ? encoding::delta : encoding::varint;
  if (std::min(delta, varint) > dense_.size() * sizeof(std::uint64_t)) header.encoding = encoding::raw;
  encode(header);
}

void table_encoder::recalled(std::uint16_t id, std::span<const std::uint64_t> values, std::uint16_t reference,
                             std::span<const std::uint64_t> history) {
  all_.assign(values.begin(), values.end());
  column_header header{.id = id, .encoding = encoding::recall, .reference = reference};
  if (!select(header)) return;

  // dense_ becomes the distances, all_ collects the numbers that are new.
  index_.start(rows_);
  all_.clear();
  std::size_t next = 0;
  for (std::size_t row = 0; row < rows_; ++row) {
    const bool every = header.presence == presence::every;
    if (every || (next < present_.size() && present_[next] == row)) {
      const std::size_t distance = index_.distance(dense_[next], row);
      if (distance == 0) all_.push_back(dense_[next]);
      dense_[next++] = distance;
    }
    if (history[row] != 0) index_.note(history[row], row);
  }
  unsigned char* to = put_varints(start_data(header), dense_);
  close(header, put_deltas(to, all_));
}

void table_encoder::texts(std::uint16_t id, std::span<const std::string> values) {
  std::size_t total = 0;
  for (const std::string& text : values) total += text.size() + max_varint_size;
  if (total == rows_ * max_varint_size) return;  // empty in every row
  reserve(total);
  unsigned char* to = scratch_.data();
  for (const std::string& text : values) to = put_varint(to, text.size());
  for (const std::string& text : values) to = std::copy(text.begin(), text.end(), to);
  column_header header{.id = id, .encoding = encoding::texts};
  close(header, to);
}

byte_span table_encoder::payload() {
  payload_.resize(sizeof(std::uint32_t) + headers_.size() * column_header_size);
  store(payload_.data(), static_cast<std::uint32_t>(headers_.size()));
  unsigned char* to = payload_.data() + sizeof(std::uint32_t);
  for (const column_header& header : headers_) {
    store_column_header(to, header);
    to += column_header_size;
  }
  payload_.insert(payload_.end(), data_.begin(), data_.end());
  return payload_;
}

}  // namespace mallard::journal
