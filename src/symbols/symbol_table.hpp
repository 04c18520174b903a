// symbol_table: functions by their addresses, from the symbols of an ELF file; function_table: what is code,
// and where functions begin, which even files without a single symbol say.
//
//     .symtab, else .dynsym with .gnu_debugdata        --> sorted by address --> binary search
//     .eh_frame_hdr: (function, unwind rule) pairs     --> likewise
//
// A symbol with a size names what lies inside it, one without what lies before the next. Of several names of
// one address the most public is taken, then the plainest. Names live as long as the file.
//
// Programs keep .eh_frame_hdr to unwind their stacks. With it, all calls from one nameless function are
// reported as calls from one function. Only the form that all linkers write is read; without it every look-up
// is empty. Bounds are checked, whatever the file says.
#pragma once

#include <cstdint>
#include <optional>
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

class function_table {
 public:
  explicit function_table(const object_file& file);

  [[nodiscard]] bool is_code(std::uint64_t address) const noexcept { return segment_of(address) != nullptr; }

  // Where the last function of its segment that begins at or before the address begins.
  [[nodiscard]] std::optional<std::uint64_t> find(std::uint64_t address) const noexcept;

 private:
  struct range {
    std::uint64_t begin;
    std::uint64_t end;
  };

  [[nodiscard]] const range* segment_of(std::uint64_t address) const noexcept;

  std::vector<range> code_;            // executable segments
  std::vector<std::uint64_t> begins_;  // of functions, sorted
};

}  // namespace mallard::symbols
