// snapshot_table: the registers and stack words behind some events, as sections of the journal.
//
// Rows are gathered some thousand to a section, which is written behind the events that it is about.
// FORMAT.md, `wtns`, has the columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "journal/binary/writer.hpp"
#include "journal/events/table.hpp"

namespace mallard::recorder {

class snapshot_table {
 public:
  explicit snapshot_table(journal::writer& out);

  // `words` are those of a snapshot record: the registers, then the words of the stack.
  void add(std::uint64_t event, std::span<const std::uint64_t> words);

  // Writes what was gathered, if anything.
  void flush();

 private:
  void append(std::size_t column, std::uint64_t value);

  journal::writer* out_;
  journal::table rows_;
};

}  // namespace mallard::recorder
