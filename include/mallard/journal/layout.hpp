// layout: the numbers that the journal's file format is made of; FORMAT.md explains them.
//
//     file     [file header][section][section] ... [section "end "]
//     section  [section header][payload]
//     payload  JSON ("meta", "end "), or a table: [column count][column headers][column data]
//
// All numbers are little-endian. A value written here is part of the format and never changes its
// meaning; new section types, columns and facts get new values and a higher minor version.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace mallard::journal {

inline constexpr std::uint16_t format_major = 1;  // a reader refuses a higher one
inline constexpr std::uint16_t format_minor = 0;  // a reader accepts a higher one

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
inline constexpr section_type end = make_section_type("end ");
}  // namespace sections

}  // namespace mallard::journal
