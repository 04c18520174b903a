#include "recorder/launcher/snapshot_table.hpp"

#include <variant>
#include <vector>

#include "journal/spool/ring_record.hpp"

namespace mallard::recorder {
namespace {

constexpr std::size_t rows_at_once = 4096;

}  // namespace

snapshot_table::snapshot_table(journal::writer& out) : out_(&out) {
  rows_.type = journal::sections::snapshots;
  for (std::uint16_t id = 1; id <= journal::snapshot_words; ++id) rows_.columns.push_back({.id = id});
}

void snapshot_table::append(std::size_t column, std::uint64_t value) {
  std::get<std::vector<std::uint64_t>>(rows_.columns[column].values).push_back(value);
}

void snapshot_table::add(std::uint64_t event, std::span<const std::uint64_t> words) {
  append(0, event);
  for (std::size_t i = 0; i < words.size(); ++i) append(1 + i, words[i]);
  if (++rows_.rows == rows_at_once) flush();
}

void snapshot_table::flush() {
  if (rows_.rows == 0) return;
  out_->add_table(rows_);
  rows_.rows = 0;
  for (journal::table_column& column : rows_.columns)
    std::get<std::vector<std::uint64_t>>(column.values).clear();
}

}  // namespace mallard::recorder
