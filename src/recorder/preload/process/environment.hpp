// environment: removes the recorder's variables, so that the program and its children see the user's
// environment. Works in place: it allocates nothing, and the order of the variables stays.
#pragma once

#include <cstddef>

namespace mallard::recorder {

// Removes the variable and returns its value, null if there is none.
[[nodiscard]] const char* take_out_of_environment(const char* name) noexcept;

// Removes the first entry of LD_PRELOAD, which is this library, and copies it to `library`; removes the
// variable if that was the only entry.
void restore_preload_variable(char* library, std::size_t size) noexcept;

}  // namespace mallard::recorder
