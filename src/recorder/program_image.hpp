// program_image: what executing a file would run, and whether the recorder can be loaded into that.
//
//     script --#!--> interpreter --#!--> ... --> ELF file: dynamically linked, of this machine, not
//     privileged?
//
// The launcher examines its program and a recorded program what it is about to execute, by the files' first
// bytes. Allocates nothing; takes some kilobytes of stack.
#pragma once

#include <limits.h>

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
// told the sanitizer to bear others. `culprit`, which may be `file`, becomes the file that the verdict is
// about: the program, or the interpreter of a script. A file that may be executed but not read counts as
// recordable.
[[nodiscard]] reach examine_image(const char* file, char* const* variables,
                                  char (&culprit)[PATH_MAX]) noexcept;

}  // namespace mallard::recorder
