// The file that execvp and posix_spawnp would find for a name. Some kilobytes of stack.
#pragma once

#include <stdlib.h>

#include "recorder/program_image.hpp"

namespace mallard::recorder {

class searched_file {
 public:
  explicit searched_file(const char* name) noexcept {
    const char* folders = getenv("PATH");
    found_ = find_executable(name, folders != nullptr ? folders : "/bin:/usr/bin", path_);
  }

  // Null if there is none.
  [[nodiscard]] const char* path() const noexcept { return found_ ? path_ : nullptr; }

 private:
  char path_[PATH_MAX];
  bool found_;
};

}  // namespace mallard::recorder
