// program_image: what executing a file would run, and whether the recorder can be loaded into that.
//
//     script --#!--> interpreter --#!--> ... --> ELF file: dynamically linked, of this machine, not
//     privileged?
//
// The launcher examines its program and a recorded program what it is about to execute, by the files' first
// bytes. Allocates nothing; takes some kilobytes of stack.
//
// The GNU build id of a module stands among the notes of its ELF segments, in memory or in its file.
#pragma once

#include <elf.h>
#include <limits.h>
#include <link.h>
#include <string.h>

#include <cstddef>

namespace mallard::recorder {

enum class reach {
  recordable,
  not_found,
  not_executable,
  statically_linked,  // nothing can be preloaded into it
  privileged,         // setuid, setgid or with capabilities: the dynamic linker ignores preloads
  foreign,            // of another architecture, or for another libc than mallard
  sanitized,          // with AddressSanitizer in a library, which ends a program that loads another one first
};

// Why it cannot be recorded, as the end of a sentence about it; empty for what can.
[[nodiscard]] const char* reason_of(reach verdict) noexcept;

// The file that a shell or execvp would execute for `name`: searched in the folders of `path`, separated by
// ':', unless `name` has a slash. The first executable file wins; without one, the first file. False if there
// is none.
[[nodiscard]] bool find_executable(const char* name, const char* path, char (&found)[PATH_MAX]) noexcept;

// Whether `file` can be recorded with the environment `variables` (null: none), in which the user may have
// made the sanitizer accept others. `culprit`, which may be `file`, becomes the file that the verdict is
// about: the program, or the interpreter of a script. A file that may be executed but not read counts as
// recordable.
[[nodiscard]] reach examine_image(const char* file, char* const* variables,
                                  char (&culprit)[PATH_MAX]) noexcept;

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
