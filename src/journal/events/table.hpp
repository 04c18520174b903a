// table: rows and typed columns, the one container behind almost every section of a journal.
//
//     table "wtns"        column 1        column 2         column 3
//       row 0             event = 17      words[0] = ...   words[1] = ...
//       row 1             ...
//
// A column holds numbers or texts, one a row; its id has a meaning only within the table's type
// (FORMAT.md lists those that version 1 knows). What is new in a journal gets a
// new type, or a new column of a known one: readers skip what they do not know.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "mallard/journal/layout.hpp"

namespace mallard::journal {

struct table_column {
  std::uint16_t id = 0;
  std::variant<std::vector<std::uint64_t>, std::vector<std::string>> values{};
};

struct table {
  section_type type{};
  std::size_t rows = 0;  // the length of every column
  std::vector<table_column> columns{};

  // The numbers or texts of column `id`; null if there are none. A column of nothing but zeros, or
  // of empty texts, is not kept in a journal.
  [[nodiscard]] const std::vector<std::uint64_t>* numbers(std::uint16_t id) const noexcept {
    return find<std::vector<std::uint64_t>>(id);
  }
  [[nodiscard]] const std::vector<std::string>* texts(std::uint16_t id) const noexcept {
    return find<std::vector<std::string>>(id);
  }

 private:
  template <class Values>
  [[nodiscard]] const Values* find(std::uint16_t id) const noexcept {
    for (const table_column& column : columns)
      if (column.id == id) return std::get_if<Values>(&column.values);
    return nullptr;
  }
};

}  // namespace mallard::journal
