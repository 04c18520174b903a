#include "journal/binary/table_codec.hpp"

#include <string>

namespace mallard::journal {
namespace {

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

template <class Values>
const Values* find(const table& rows, std::uint16_t id) noexcept {
  for (const table_column& column : rows.columns) {
    if (column.id == id) return std::get_if<Values>(&column.values);
  }
  return nullptr;
}

}  // namespace

const std::vector<std::uint64_t>* table::numbers(std::uint16_t id) const noexcept {
  return find<std::vector<std::uint64_t>>(*this, id);
}

const std::vector<std::string>* table::texts(std::uint16_t id) const noexcept {
  return find<std::vector<std::string>>(*this, id);
}

void encode_table(table_encoder& encoder, const table& rows) {
  check(rows);
  encoder.begin(rows.rows);
  for (const table_column& column : rows.columns) {
    if (const auto* numbers = std::get_if<std::vector<std::uint64_t>>(&column.values)) {
      encoder.numbers(column.id, *numbers);
    } else {
      encoder.texts(column.id, std::get<std::vector<std::string>>(column.values));
    }
  }
}

table decode_table(table_decoder& decoder, section_type type, std::size_t rows) {
  table decoded{.type = type, .rows = rows};
  for (const column_header& header : decoder.columns()) {
    if (!is_known(header)) continue;
    if ((decoded.columns.size() + 1) * rows > max_table_values) throw malformed("it is too large");
    table_column column{.id = header.id};
    if (header.encoding == encoding::texts) {
      decoder.texts(header, column.values.emplace<std::vector<std::string>>());
    } else {
      auto& numbers = column.values.emplace<std::vector<std::uint64_t>>(rows);
      std::span<const std::uint64_t> history;
      if (header.reference == header.id) {
        history = numbers;
      } else if (const auto* earlier = decoded.numbers(header.reference)) {
        history = *earlier;
      }
      decoder.numbers(header, std::span<std::uint64_t>(numbers), history);
    }
    decoded.columns.push_back(std::move(column));
  }
  return decoded;
}

}  // namespace mallard::journal
