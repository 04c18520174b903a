// sized_struct: structs of mallard.h that begin with their size, between a program and a library of two ages.
//
//     of the program    [ size | a | b ]                  an older one knows less: what it lacks is 0
//     of the library    [ size | a | b | c ]              a newer one knows more: of that it must want
//     nothing
//
// `First` is the size that the struct had in the first version; no program has a smaller one, and none has
// one above `most`: what says so is no struct, and is not looked at.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

namespace mallard::capi {

// Bytes.
inline constexpr std::size_t most = 1024;

// Whether `given` is understood; `known` is what it says then.
template <std::size_t First, class T>
  requires std::is_trivially_copyable_v<T>
[[nodiscard]] bool read_sized(const T& given, T& known) noexcept {
  if (given.size < First || given.size > most) return false;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(&given);
  for (std::size_t i = sizeof(T); i < given.size; ++i)
    if (bytes[i] != 0) return false;
  known = T{};
  std::memcpy(&known, bytes, std::min(given.size, sizeof(T)));
  return true;
}

// Whether `asked` is a struct of some version; it has what it has room for then, and its size as before.
template <std::size_t First, class T>
  requires std::is_trivially_copyable_v<T>
[[nodiscard]] bool write_sized(T told, T& asked) noexcept {
  if (asked.size < First || asked.size > most) return false;
  told.size = asked.size;
  std::memcpy(static_cast<void*>(&asked), &told, std::min(told.size, sizeof(T)));
  return true;
}

}  // namespace mallard::capi
