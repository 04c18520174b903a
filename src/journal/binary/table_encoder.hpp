// table_encoder: makes the payload of a section, column by column.
//
//     encoder.begin(rows);
//     encoder.numbers(id, how, values);     // once a column, `rows` values each
//     put_section(file, type, rows, encoder.payload());
//
// It finds out for each column whether it is needed at all (all zero: no), constant, or worth a
// narrower presence, and whether compressing it pays. The buffers live as long as the encoder.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "journal/binary/column.hpp"
#include "journal/binary/last_rows.hpp"
#include "journal/events/table.hpp"

namespace mallard::journal {

class table_encoder {
 public:
  void begin(std::size_t rows);

  // As `varint`, `delta` or `raw`.
  void numbers(std::uint16_t id, encoding how, std::span<const std::uint64_t> values);

  // As `varint`, `delta` or `raw`, whichever is shortest before compression.
  void numbers(std::uint16_t id, std::span<const std::uint64_t> values);

  // As `back_reference` into `history`, the values of column `reference`: this one or one encoded before.
  // Where rows repeat earlier ones, the distance stays the same, which compresses well; otherwise the
  // shortest distance is used.
  void back_references(std::uint16_t id, std::span<const std::uint64_t> values, std::uint16_t reference,
                       std::span<const std::uint64_t> history);

  void texts(std::uint16_t id, std::span<const std::string> values);

  // A whole table. Throws journal::error where it is larger than a section may be, or a column is not as long
  // as the table says.
  void encode(const table& rows);

  // The payload; valid until begin().
  [[nodiscard]] byte_span payload() { return builder_.payload(); }

 private:
  bool select(column_header& header, std::span<const std::uint64_t> values);
  void reserve(std::size_t bytes);
  unsigned char* start_data(const column_header& header);
  void encode_present(column_header& header);
  void close(const column_header& header, const unsigned char* end);

  std::size_t rows_ = 0;
  std::vector<std::uint64_t> fresh_;    // the numbers that are new
  std::vector<std::uint64_t> dense_;    // a column's present values
  std::vector<std::uint32_t> present_;  // their rows, where not every row has one
  byte_vector scratch_;                 // data of one column, at most; only grows
  last_rows last_rows_;
  payload_builder builder_;
};

}  // namespace mallard::journal
