// table_decoder: takes the payload of a section apart, column by column.
//
//     decoder.open(payload, rows);
//     for (const column_header& column : decoder.columns())
//       if (column.id == ...) decoder.numbers(column, out);
//
// Every length is checked before it is believed; what does not fit throws malformed. Columns that
// nobody asks for are never looked at. The buffers live as long as the decoder: a column costs a
// few ns a row and, after the first sections, no allocation.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "journal/binary/column.hpp"
#include "journal/bytes/compress.hpp"
#include "journal/events/table.hpp"
#include "mallard/journal/event.hpp"

namespace mallard::journal {

class table_decoder {
 public:
  // `payload` stays where it is until the next open().
  void open(byte_span payload, std::size_t rows);

  [[nodiscard]] std::span<const column_header> columns() const noexcept { return columns_; }

  // Names the rows' kinds, for the columns whose presence goes by them.
  void set_kinds(std::span<const event_kind> kinds) noexcept { kinds_ = kinds; }

  // The column as numbers, one for each row of `out`. T is std::uint64_t, std::uint32_t or
  // event_kind; a number that does not fit it is malformed. `history` is the column that back-references
  // go into: `out` itself or one decoded before; empty if there is none.
  template <class T>
  void numbers(const column_header& column, std::span<T> out, std::span<const std::uint64_t> history = {});

  void texts(const column_header& column, std::vector<std::string>& out);

  // What is open, as a table without the columns whose encoding this version does not know; throws malformed.
  [[nodiscard]] table decode(section_type type);

 private:
  byte_span data(const column_header& column);
  std::size_t find_present(const column_header& column, byte_reader& from);
  template <class T>
  void values(const column_header& column, byte_reader& from, std::span<T> out);
  template <class T>
  void back_references(const column_header& column, byte_reader& from, std::span<T> out,
                       std::span<const std::uint64_t> history);

  byte_span payload_;
  std::size_t rows_ = 0;
  std::span<const event_kind> kinds_;
  std::vector<column_header> columns_;
  std::vector<std::size_t> offsets_;    // where the data of each column starts in payload_
  std::vector<std::uint32_t> present_;  // rows that have a value, unless every row has
  std::vector<std::uint64_t> dense_;    // their values, or the distances of back-references
  decompressor decompressor_;
};

}  // namespace mallard::journal
