// program_image: what executing a file would run, and whether the recorder can be loaded into that.
//
//     script --#!--> interpreter --#!--> ... --> ELF file: dynamically linked, of this machine, not
//     privileged?
//
// Decided from the files' first bytes before anything is executed, by the launcher for its program and by the
// recorded program for what it executes. Allocates nothing; some kilobytes of stack.
#pragma once

#include <limits.h>

namespace mallard::recorder {

enum class reach {
  recordable,
  not_found,
  not_executable,
  statically_linked,  // nothing can be preloaded into it
  privileged,         // setuid, setgid or with capabilities: the dynamic linker ignores preloads
  foreign,            // of another architecture, or for another libc than the recorder
};

// The file `name` stands for when it is executed, as a shell or execvp has it: by the folders of `path`, ':'
// between them, unless it has a slash. The first executable one wins, the first one that is not is the second
// choice; false if there is neither.
[[nodiscard]] bool find_executable(const char* name, const char* path, char (&found)[PATH_MAX]) noexcept;

// Whether `file` can be recorded. `culprit`, which may be `file`, becomes the file that decides: the program,
// or the interpreter of a script. A file that may be executed but not read is taken for recordable.
[[nodiscard]] reach examine_image(const char* file, char (&culprit)[PATH_MAX]) noexcept;

}  // namespace mallard::recorder
