// A handmade unwind table of one function, laid out as a linker does.
//
//     .eh_frame_hdr: one pair   CIE: CFA = sp + 8, pc at CFA - 8   FDE: the program that is given
//
// The function is at the table's own beginning and 256 bytes long.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace mallard::unwind::test {

using bytes = std::vector<std::uint8_t>;

namespace table_detail {

inline void append(bytes& to, const bytes& what) { to.insert(to.end(), what.begin(), what.end()); }

inline void append_number(bytes& to, std::size_t value) {
  for (int shift = 0; shift < 32; shift += 8) to.push_back(static_cast<std::uint8_t>(value >> shift));
}

inline void append_record(bytes& to, bytes record) {
  while (record.size() % 8 != 4) record.push_back(0);
  append_number(to, record.size());
  append(to, record);
}

}  // namespace table_detail

// `augmentation` is "zR", or "zRS" for the frame of a signal.
inline bytes one_function_table(std::string_view augmentation, const bytes& program) {
  using namespace table_detail;
  constexpr std::size_t header_size = 20;
  constexpr std::size_t place_of_fde_offset = 16;
  bytes cie;
  append_number(cie, 0);
  cie.push_back(1);
  append(cie, bytes(augmentation.begin(), augmentation.end()));
  append(cie, {0, 1, 0x78, 16, 1, 0x1b});  // alignments 1 and -8, pc in 16; pointers count from their place
  append(cie, {0x0c, 7, 8, 0x90, 1});
  bytes table = {1, 0x1b, 3, 0x3b};
  append_number(table, header_size - 4);
  append_number(table, 1);
  append_number(table, 0);
  append_number(table, 0);
  append_record(table, cie);
  const std::size_t fde = table.size();
  table[place_of_fde_offset] = static_cast<std::uint8_t>(fde);
  bytes description;
  append_number(description, fde + 4 - header_size);
  append_number(description, -(fde + 8));
  append_number(description, 0x100);
  description.push_back(0);
  append(description, program);
  append_record(table, description);
  return table;
}

}  // namespace mallard::unwind::test
