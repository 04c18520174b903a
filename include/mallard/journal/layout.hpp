// layout: the numbers that the journal's file format is made of; FORMAT.md explains them.
//
//     file     [file header][section][section] ... [section "end "]
//     section  [section header][payload]
//     payload  JSON ("meta"), or a table: [column count][column header]...[column data]...
//
// All numbers are little-endian. A value written here is part of the format and never changes its
// meaning; new section types, columns and facts get new values and a higher minor version.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "mallard/core/version.hpp"

namespace mallard::journal {

inline constexpr std::uint16_t format_major = 1;  // a reader refuses a higher one
inline constexpr std::uint16_t format_minor = 2;  // a reader accepts a higher one

// Like PNG's: a high bit, line ends of both kinds and an end-of-text mark, so that a transfer that
// mangles any of them is noticed at once.
inline constexpr std::array<unsigned char, 8> file_magic = {0x89, 'M', 'L', 'D', '\r', '\n', 0x1a, '\n'};

inline constexpr std::size_t file_header_size = 32;     // bytes; a later minor version may append to it
inline constexpr std::size_t section_header_size = 40;  // bytes
inline constexpr std::size_t column_header_size = 24;   // bytes

inline constexpr std::array<unsigned char, 4> section_marker = {0x9d, 's', 'e', 'c'};

// Four characters, the first one in the lowest byte.
enum class section_type : std::uint32_t {};

[[nodiscard]] constexpr section_type make_section_type(const char (&name)[5]) noexcept {
  std::uint32_t code = 0;
  for (int i = 3; i >= 0; --i) code = code << 8 | static_cast<unsigned char>(name[i]);
  return static_cast<section_type>(code);
}

namespace sections {
inline constexpr section_type metadata = make_section_type("meta");
inline constexpr section_type events = make_section_type("evnt");
inline constexpr section_type contexts = make_section_type("ctxt");
inline constexpr section_type threads = make_section_type("thrd");
inline constexpr section_type modules = make_section_type("modu");
inline constexpr section_type names = make_section_type("name");
inline constexpr section_type usage = make_section_type("usag");
inline constexpr section_type children = make_section_type("chld");
inline constexpr section_type snapshots = make_section_type("wtns");
inline constexpr section_type end = make_section_type("end ");
}  // namespace sections

// How the numbers or texts of a column become bytes.
enum class encoding : std::uint8_t {
  constant = 0,        // one varint: the value of every present row
  bytes = 1,           // one byte a value
  varint = 2,          // seven bits a byte, lowest first, the high bit set on all but the last
  delta = 3,           // varint of the zigzag difference to the value before, the first one's to 0
  raw = 4,             // eight bytes a value
  texts = 5,           // the lengths as varints, then all the bytes
  back_reference = 6,  // varints: how many rows ago the value stood in a column, 0: it is new; then the
                       // new ones, as in delta
};

enum class compression : std::uint8_t { none = 0, zstd = 1 };

// Which rows have a value; the others are 0 or the empty text.
enum class presence : std::uint8_t {
  every = 0,
  kinds = 1,   // rows whose event kind k, below 64, has bit k set in a mask
  sparse = 2,  // rows listed by the varint gaps between them, in front of the values
};

// Identities of columns, by section. One that is missing is 0, or empty, in every row.
enum class event_column : std::uint16_t {
  kind = 1,  // before every column whose presence goes by kinds
  time = 2,
  thread = 3,
  context = 4,
  address = 5,
  size = 6,
  alignment = 7,
  old_address = 8,
  region = 9,
  parent = 10,
  duration = 11,
};
enum class context_column : std::uint16_t {
  index = 1,
  parent = 2,
  name = 3,
  return_address = 4,
  stack_offset = 5,
  stack_offset_change = 6,  // since minor version 2, in place of stack_offset
};
enum class thread_column : std::uint16_t { index = 1, system_id = 2, start_time = 3, end_time = 4, name = 5 };
enum class module_column : std::uint16_t {
  index = 1,
  begin = 2,
  end = 3,
  bias = 4,
  load_time = 5,
  unload_time = 6,
  path = 7,
  build_id = 8,
};
enum class name_column : std::uint16_t { index = 1, text = 2 };
enum class usage_column : std::uint16_t {
  time = 1,
  cpu_ns = 2,
  recording_ns = 3,
  stalls = 4,
  stalled_ns = 5
};
enum class child_column : std::uint16_t {
  process = 1,
  time = 2,
  journal = 3,
  program = 4,
  reason = 5,
  processes = 6
};
enum class end_column : std::uint16_t { kind = 1, events = 2 };

// Limits that a writer keeps and a reader insists on, so that no number in a file decides how much
// memory it takes to read it.
inline constexpr std::size_t max_section_rows = std::size_t{1} << 20;
inline constexpr std::size_t max_section_columns = 256;
inline constexpr std::size_t max_table_values = std::size_t{1} << 24;  // rows times columns, but for events
inline constexpr std::size_t max_section_size = std::size_t{256}
                                                << 20;                 // bytes stored, and before compression
inline constexpr std::size_t max_column_size = std::size_t{64} << 20;  // bytes before compression

}  // namespace mallard::journal
