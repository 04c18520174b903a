// The GNU build id of a module: among the notes of its ELF segments, in memory or in its file.
#pragma once

#include <elf.h>
#include <link.h>
#include <string.h>

#include <cstddef>

namespace mallard::recorder {

struct byte_range {
  const char* data = nullptr;
  std::size_t size = 0;
};

[[nodiscard]] constexpr std::size_t round_up(std::size_t bytes, std::size_t align) noexcept {
  return (bytes + align - 1) & ~(align - 1);
}

// The build id among the notes of one segment; empty if it is not there. `align` is the segment's.
[[nodiscard]] inline byte_range build_id_among(byte_range notes, std::size_t align) noexcept {
  align = align == 8 ? 8 : 4;
  while (notes.size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    memcpy(&note, notes.data, sizeof note);
    const std::size_t name_at = sizeof note;
    const std::size_t value_at = round_up(name_at + note.n_namesz, align);
    const std::size_t whole = round_up(value_at + note.n_descsz, align);
    if (value_at + note.n_descsz > notes.size) break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(notes.data + name_at, "GNU", 4) == 0)
      return {notes.data + value_at, note.n_descsz};
    if (whole >= notes.size) break;
    notes = {notes.data + whole, notes.size - whole};
  }
  return {};
}

}  // namespace mallard::recorder
