// passed_environment: the environment for a program that is to be recorded as well.
//
//     the user's:   A=1  LD_PRELOAD=x.so              B=2
//     passed:       A=1  LD_PRELOAD=library:x.so      B=2  MALLARD_RECORD_SPOOL=number:process:path
//
// The library removes its part again when the program starts, so that the program sees the
// user's. It is made on the stack of the call, which is safe in a vfork'ed child; a thousand variables or
// more take mapped memory, which a vfork'ed child leaves to its parent.
#pragma once

#include <stdlib.h>

#include <cstddef>
#include <utility>

#include "mallard/core/attributes.hpp"
#include "recorder/preload/spool/raw_calls.hpp"
#include "recorder/preload/spool/unrecorded_programs.hpp"
#include "recorder/program_image.hpp"

namespace mallard::recorder {

// The file that execvp and posix_spawnp would find for a name. Some kilobytes of stack.
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

// Bytes that passed_environment() needs for `variables` (null: none).
[[nodiscard]] std::size_t passed_environment_bytes(char* const* variables) noexcept;

// The environment, in `place`, which has that many bytes. The user's strings stay where they are.
[[nodiscard]] char** passed_environment(char* const* variables, void* place) noexcept;

// What executing a file means for the recording: the program is recorded as well, or it is counted as one
// that is not (unrecorded_programs.hpp), until take_back() says that it was not executed. A file that is not
// there, or may not be executed, is not counted: there are few places, and a shell tries many paths.
class passage {
 public:
  // Null means a file that is not known and counts as recordable; `variables` is the user's environment.
  passage(const char* file, char* const* variables) noexcept;

  [[nodiscard]] bool is_open() const noexcept { return is_open_; }
  void take_back() noexcept { discount(std::exchange(counted_, nullptr)); }

 private:
  bool is_open_ = false;
  journal::unrecorded_entry* counted_ = nullptr;
};

// Calls `use` with the environment for `file`, the passed one or `variables` as they are, and returns its
// result, which is 0 if the program was executed.
template <class Use>
MALLARD_NOINLINE auto with_environment_for(const char* file, char* const* variables, Use use) noexcept {
  constexpr std::size_t most_on_stack = std::size_t{12} * 1024;
  passage way(file, variables);
  if (!way.is_open()) {
    const auto result = use(variables);
    if (result != 0) way.take_back();
    return result;
  }
  const std::size_t bytes = passed_environment_bytes(variables);
  const bool on_stack = bytes <= most_on_stack;
  void* place = on_stack ? __builtin_alloca(bytes) : map_pages(bytes);
  if (place == nullptr) return use(variables);
  const auto result = use(static_cast<char* const*>(passed_environment(variables, place)));
  if (!on_stack) unmap_pages(place, bytes);
  return result;
}

// Makes the passed environment the process's own for the lifetime of the object.
//
//     environ --> the user's          environ --> passed, one of the process's, kept and used again
//
// For popen, which takes no environment but passes on the process's. Other threads see it meanwhile as well;
// what they change stays changed. One thread at a time has it.
class lent_environment {
 public:
  lent_environment() noexcept;
  ~lent_environment() noexcept;
  lent_environment(const lent_environment&) = delete;
  lent_environment& operator=(const lent_environment&) = delete;
};

// In a forked child: ends the loan that another thread of the parent had.
void take_lent_environment_back() noexcept;

// In the program that was started, in place: nothing is allocated, and the order of the variables stays.
//
// Removes the variable and returns its value, null if there is none.
[[nodiscard]] const char* take_out_of_environment(const char* name) noexcept;

// Removes the first entry of LD_PRELOAD, which is this library, and copies it to `library`; removes the
// variable if that was the only entry.
void restore_preload_variable(char* library, std::size_t size) noexcept;

}  // namespace mallard::recorder
