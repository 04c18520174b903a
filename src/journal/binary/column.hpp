// column: how one column of a table lies in a section's payload.
//
//     payload   [columns: u32][column header]...[data of column 0][data of column 1]...
//     header    0    2          3             4          5          6           8       16         20
//               | id | encoding | compression | presence | reserved | reference | where | raw size | stored |
//
// `where` is the mask of kinds, or the number of present rows of a sparse column. `reference` is
// the column that back-references go into, itself or an earlier one.
#pragma once

#include <cstdint>
#include <vector>

#include "journal/bytes/compress.hpp"
#include "journal/bytes/wire.hpp"
#include "mallard/journal/layout.hpp"

namespace mallard::journal {

struct column_header {
  std::uint16_t id = 0;
  journal::encoding encoding{};
  journal::compression compression{};
  journal::presence presence{};
  std::uint16_t reference = 0;
  std::uint64_t where = 0;
  std::uint32_t raw_size = 0;     // bytes of the data before compression
  std::uint32_t stored_size = 0;  // bytes of the data in the file
};

inline void store_column_header(unsigned char* to, const column_header& header) noexcept {
  store(to, header.id);
  store(to + 2, header.encoding);
  store(to + 3, header.compression);
  store(to + 4, header.presence);
  store(to + 5, std::uint8_t{0});
  store(to + 6, header.reference);
  store(to + 8, header.where);
  store(to + 16, header.raw_size);
  store(to + 20, header.stored_size);
}

[[nodiscard]] inline column_header load_column_header(const unsigned char* from) noexcept {
  return {.id = load<std::uint16_t>(from),
          .encoding = load<encoding>(from + 2),
          .compression = load<compression>(from + 3),
          .presence = load<presence>(from + 4),
          .reference = load<std::uint16_t>(from + 6),
          .where = load<std::uint64_t>(from + 8),
          .raw_size = load<std::uint32_t>(from + 16),
          .stored_size = load<std::uint32_t>(from + 20)};
}

// Whether this version knows how such a column lies in the file.
[[nodiscard]] inline bool is_known(const column_header& header) noexcept {
  return header.encoding <= encoding::back_reference && header.compression <= compression::zstd &&
         header.presence <= presence::sparse;
}

// Puts the columns of a section together:
//
//     builder.begin();
//     builder.add(header, data);                 // once a column; compressed where that pays
//     put_section(file, type, rows, builder.payload());
//
// The buffers live as long as the builder.
class payload_builder {
 public:
  void begin() {
    headers_.clear();
    data_.clear();
  }

  // Adds a column that is `data` before compression; the header says how, but for that.
  void add(column_header header, byte_span data, effort how = effort::usual) {
    header.raw_size = static_cast<std::uint32_t>(data.size());
    byte_span stored = data;
    if (const byte_span shorter = compressor_.compress(data, how); !shorter.empty()) {
      stored = shorter;
      header.compression = compression::zstd;
    }
    header.stored_size = static_cast<std::uint32_t>(stored.size());
    data_.insert(data_.end(), stored.begin(), stored.end());
    headers_.push_back(header);
  }

  // The payload; valid until begin().
  [[nodiscard]] byte_span payload() {
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

 private:
  std::vector<column_header> headers_;
  byte_vector data_;
  byte_vector payload_;
  compressor compressor_;
};

}  // namespace mallard::journal
