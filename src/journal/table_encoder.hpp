// table_encoder: makes the payload of a section, column by column.
//
//     encoder.begin(rows);
//     encoder.numbers(id, how, values);     // once a column, `rows` values each
//     put_section(file, type, rows, encoder.payload());
//
// It finds out for each column whether it is needed at all (all zero: no), constant, or worth a
// narrower presence, and whether compressing it pays. The buffers live as long as the encoder.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "journal/column.hpp"
#include "journal/compress.hpp"
#include "journal/recall_index.hpp"
#include "mallard/journal/event.hpp"

namespace mallard::journal {

class table_encoder {
 public:
  // `kinds`, if given, are the rows' event kinds, which a column's presence can go by; their own column
  // never does.
  void begin(std::size_t rows, std::span<const event_kind> kinds = {});

  // As `bytes`, `varint`, `delta` or `raw`; T is std::uint64_t, std::uint32_t or event_kind.
  template <class T>
  void numbers(std::uint16_t id, encoding how, std::span<const T> values);

  // The kinds given to begin(), a byte each and one in every row: a reader needs them for other columns.
  void kinds(std::uint16_t id);

  // As `varint`, `delta` or `raw`, whichever is shortest before compression.
  void numbers(std::uint16_t id, std::span<const std::uint64_t> values);

  // As `recall` into `history`, the values of column `reference`: this one or one encoded before.
  void recalled(std::uint16_t id, std::span<const std::uint64_t> values, std::uint16_t reference,
                std::span<const std::uint64_t> history);

  void texts(std::uint16_t id, std::span<const std::string> values);

  // The payload; valid until begin().
  [[nodiscard]] byte_span payload();

 private:
  template <class T>
  std::span<const std::uint64_t> widened(std::span<const T> values);
  template <class Predicate>
  void list_rows(Predicate holds);
  bool select(column_header& header, std::span<const std::uint64_t> values);
  void reserve(std::size_t bytes);
  unsigned char* start_data(const column_header& header);
  void encode(column_header& header);
  void close(column_header& header, const unsigned char* end);

  std::size_t rows_ = 0;
  std::span<const event_kind> kinds_;
  std::array<std::size_t, 256> rows_of_kind_{};
  std::vector<std::uint64_t> wide_;     // a column of narrower numbers
  std::vector<std::uint64_t> fresh_;    // what a recall does not find
  std::vector<std::uint64_t> dense_;    // its present values
  std::vector<std::uint32_t> present_;  // their rows
  byte_vector scratch_;                 // data of one column, at most; only grows
  std::vector<column_header> headers_;
  byte_vector data_;
  byte_vector payload_;
  recall_index index_;
  compressor compressor_;
};

}  // namespace mallard::journal
