// function_table: what is code, and where functions begin: known even to files without a single symbol.
//
//     .eh_frame_hdr   sorted (function, unwind rule) pairs --> binary search
//
// Programs keep the table to unwind their stacks. With it, all calls from one nameless function are told to
// be from one. Only the form that all linkers write is read; without it every look-up is empty. Bounds are
// checked, whatever the file says.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "symbols/object_file.hpp"

namespace mallard::symbols {

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
