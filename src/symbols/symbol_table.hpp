// symbol_table: functions by their addresses, from the symbols of an ELF file.
//
//     .symtab, else .dynsym with .gnu_debugdata --> sorted by address --> binary search
//
// A symbol with a size names what lies inside it, one without what lies before the next. Of several names of
// one address the most public is taken, then the plainest. Names live as long as the file.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "symbols/object_file.hpp"

namespace mallard::symbols {

class symbol_table {
 public:
  explicit symbol_table(const object_file& file);

  // The name as the file has it; empty: there is none.
  [[nodiscard]] std::string_view find(std::uint64_t address) const noexcept;

 private:
  struct symbol {
    std::uint64_t begin;
    std::uint64_t size;  // 0: unknown
    int rank;            // lower is better
    std::string_view name;
  };

  static bool before(const symbol& a, const symbol& b) noexcept;

  std::vector<symbol> symbols_;
};

}  // namespace mallard::symbols
