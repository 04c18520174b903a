#include "journal/table_encoder.hpp"

#include <algorithm>
#include <type_traits>

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
  rows_of_kind_.fill(0);
  for (const event_kind kind : kinds) ++rows_of_kind_[static_cast<std::size_t>(kind)];
  headers_.clear();
  data_.clear();
}

void table_encoder::reserve(std::size_t bytes) {
  if (scratch_.size() < bytes) scratch_.resize(bytes);
}

// Lists the rows for which `holds` is true, in present_.
template <class Predicate>
void table_encoder::list_rows(Predicate holds) {
  present_.resize(rows_);
  std::size_t count = 0;
  for (std::size_t row = 0; row < rows_; ++row) {
    present_[count] = static_cast<std::uint32_t>(row);
    count += static_cast<std::size_t>(holds(row));
  }
  present_.resize(count);
}

// Decides which rows of `values` are present, and collects them in dense_; false if all are zero.
// It runs over every column of every chunk, hence without branches.
bool table_encoder::select(column_header& header, std::span<const std::uint64_t> values) {
  if (all_zero(values)) return false;

  std::size_t nonzero = 0;
  std::uint64_t mask = 0;    // of the kinds below 64 that have a value somewhere
  std::uint64_t others = 0;  // whether kinds above have
  if (kinds_.empty()) {
    for (const std::uint64_t value : values) nonzero += static_cast<std::size_t>(value != 0);
  } else {
    for (std::size_t row = 0; row < rows_; ++row) {
      const auto kind = static_cast<unsigned>(kinds_[row]);
      const auto bit = static_cast<std::uint64_t>(values[row] != 0);
      nonzero += bit;
      mask |= bit << (kind & 63);
      others |= bit & static_cast<std::uint64_t>(kind >= 64);
    }
  }
  // A kind that has a value in one row has room for one in every row of it.
  std::size_t candidates = rows_;
  if (!kinds_.empty() && others == 0) {
    candidates = 0;
    for (unsigned kind = 0; kind < 64; ++kind) candidates += ((mask >> kind) & 1) * rows_of_kind_[kind];
  }

  if (nonzero * sparse_when_one_in <= candidates) {
    header.presence = presence::sparse;
    header.where = nonzero;
    list_rows([&](std::size_t row) { return values[row] != 0; });
  } else if (candidates < rows_) {
    header.presence = presence::kinds;
    header.where = mask;
    list_rows([&](std::size_t row) {
      const auto kind = static_cast<unsigned>(kinds_[row]);
      return kind < 64 && ((mask >> (kind & 63)) & 1) != 0;
    });
  } else {
    header.presence = presence::every;
    present_.clear();
    dense_.assign(values.begin(), values.end());
    return true;
  }
  dense_.resize(present_.size());
  for (std::size_t i = 0; i < present_.size(); ++i) dense_[i] = values[present_[i]];
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

// `values` as numbers of 64 bits.
template <class T>
std::span<const std::uint64_t> table_encoder::widened(std::span<const T> values) {
  if constexpr (std::is_same_v<T, std::uint64_t>) {
    return values;
  } else {
    wide_.resize(values.size());
    std::transform(values.begin(), values.end(), wide_.begin(),
                   [](T v) { return static_cast<std::uint64_t>(v); });
    return wide_;
  }
}

template <class T>
void table_encoder::numbers(std::uint16_t id, encoding how, std::span<const T> values) {
  column_header header{.id = id, .encoding = how};
  if (!select(header, widened(values))) return;
  encode(header);
}

template void table_encoder::numbers(std::uint16_t, encoding, std::span<const std::uint64_t>);
template void table_encoder::numbers(std::uint16_t, encoding, std::span<const std::uint32_t>);

void table_encoder::kinds(std::uint16_t id) {
  const std::span<const std::uint64_t> values = widened(kinds_);
  if (all_zero(values)) return;
  column_header header{.id = id, .encoding = encoding::bytes};
  present_.clear();
  dense_.assign(values.begin(), values.end());
  encode(header);
}

void table_encoder::numbers(std::uint16_t id, std::span<const std::uint64_t> values) {
  column_header header{.id = id};
  if (!select(header, values)) return;
  const std::size_t varint = varint_total(dense_);
  const std::size_t delta = delta_total(dense_);
  header.encoding = delta < varint ? encoding::delta : encoding::varint;
  if (std::min(delta, varint) > dense_.size() * sizeof(std::uint64_t)) header.encoding = encoding::raw;
  encode(header);
}

void table_encoder::recalled(std::uint16_t id, std::span<const std::uint64_t> values, std::uint16_t reference,
                             std::span<const std::uint64_t> history) {
  column_header header{.id = id, .encoding = encoding::recall, .reference = reference};
  if (!select(header, values)) return;

  // dense_ becomes the distances, fresh_ collects the numbers that are new.
  index_.start(rows_);
  fresh_.clear();
  std::size_t next = 0;
  for (std::size_t row = 0; row < rows_; ++row) {
    const bool every = header.presence == presence::every;
    if (every || (next < present_.size() && present_[next] == row)) {
      const std::size_t distance = index_.distance(dense_[next], row);
      if (distance == 0) fresh_.push_back(dense_[next]);
      dense_[next++] = distance;
    }
    if (history[row] != 0) index_.note(history[row], row);
  }
  unsigned char* to = put_varints(start_data(header), dense_);
  close(header, put_deltas(to, fresh_));
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
