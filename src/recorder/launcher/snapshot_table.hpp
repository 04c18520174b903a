// snapshot_table: the registers and stack words behind some events, as sections of the journal.
//
// Rows are gathered some thousand to a section, which is written behind the events that it is about.
// FORMAT.md, `wtns`, has the columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "journal/binary/writer.hpp"
#include "journal/events/table.hpp"
#include "journal/spool/ring_record.hpp"

namespace mallard::recorder {

class snapshot_table {
 public:
  explicit snapshot_table(journal::writer& out) : out_(&out) {
    rows_.type = journal::sections::snapshots;
    for (std::uint16_t id = 1; id <= journal::snapshot_words; ++id) rows_.columns.push_back({.id = id});
  }

  // `words` are those of a snapshot record: the registers, then the words of the stack.
  void add(std::uint64_t event, std::span<const std::uint64_t> words) {
    append(0, event);
    for (std::size_t i = 0; i < words.size(); ++i) append(1 + i, words[i]);
    if (++rows_.rows == rows_at_once) flush();
  }

  // Writes what was gathered, if anything.
  void flush() {
    if (rows_.rows == 0) return;
    out_->add_table(rows_);
    rows_.rows = 0;
    for (journal::table_column& column : rows_.columns) numbers_of(column).clear();
  }

 private:
  static constexpr std::size_t rows_at_once = 4096;

  static std::vector<std::uint64_t>& numbers_of(journal::table_column& column) {
    return std::get<std::vector<std::uint64_t>>(column.values);
  }
  void append(std::size_t column, std::uint64_t value) { numbers_of(rows_.columns[column]).push_back(value); }

  journal::writer* out_;
  journal::table rows_;
};

}  // namespace mallard::recorder
