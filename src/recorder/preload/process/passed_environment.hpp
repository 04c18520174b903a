// passed_environment: the environment for a program that is to be recorded as well.
//
//     the user's:   A=1  LD_PRELOAD=x.so              B=2
//     passed:       A=1  LD_PRELOAD=library:x.so      B=2  MALLARD_RECORD_SPOOL=process:path
//
// The library takes its part out again when the program starts (environment.hpp), so that the program
// sees the user's. Made on the stack of the call, where a vfork'ed child may do so too; mapped memory takes
// the place of the stack for a thousand variables and more, and a vfork'ed child leaves that to its parent.
#pragma once

#include <cstddef>

#include "mallard/core/attributes.hpp"
#include "recorder/preload/spool/pages.hpp"

namespace mallard::recorder {

// Bytes that passed_environment() needs for `variables` (null: none).
[[nodiscard]] std::size_t passed_environment_bytes(char* const* variables) noexcept;

// The environment, in `place`, which has that many bytes. The user's strings stay where they are.
[[nodiscard]] char** passed_environment(char* const* variables, void* place) noexcept;

// Calls `use` with the environment to be given to `file`, and returns its result: the passed one if children
// are recorded and the recorder can be loaded into the file, else `variables` as they are. `file` null: the
// file can be recorded, or is not known.
[[nodiscard]] bool is_to_be_passed_to(const char* file) noexcept;

template <class Use>
MALLARD_NOINLINE auto with_environment_for(const char* file, char* const* variables, Use use) noexcept {
  constexpr std::size_t most_on_stack = std::size_t{12} * 1024;
  if (!is_to_be_passed_to(file)) return use(variables);
  const std::size_t bytes = passed_environment_bytes(variables);
  const bool on_stack = bytes <= most_on_stack;
  void* place = on_stack ? __builtin_alloca(bytes) : map_pages(bytes);
  if (place == nullptr) return use(variables);
  const auto result = use(static_cast<char* const*>(passed_environment(variables, place)));
  if (!on_stack) unmap_pages(place, bytes);
  return result;
}

}  // namespace mallard::recorder
