// Takes the recorder's traces out of the environment, so that the program and its children see the
// one the user gave. Works in place: it allocates nothing, and the order of the variables stays.
#pragma once

#include <cstddef>

namespace mallard::recorder {

// Removes the variable and returns its value, null if there is none.
[[nodiscard]] const char* take_out_of_environment(const char* name) noexcept;

// LD_PRELOAD without its first entry, which is this library and is copied out; without any other it did not
// exist before.
void restore_preload_variable(char* library, std::size_t size) noexcept;

}  // namespace mallard::recorder
