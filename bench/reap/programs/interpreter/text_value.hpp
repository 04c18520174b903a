// text: an immutable string, its characters behind its length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "programs/interpreter/value.hpp"
#include "programs/memory/objects.hpp"

namespace mallard::programs {

struct text {
  std::uint32_t length = 0;

  [[nodiscard]] char* characters() noexcept { return reinterpret_cast<char*>(this + 1); }
  [[nodiscard]] std::string_view view() const noexcept {
    return {reinterpret_cast<const char*>(this + 1), length};
  }
};

// Of `length` characters, for the caller to write.
[[nodiscard]] inline text* make_text(region& r, std::size_t length) {
  text* const made = make_tailed<text>(r, length);
  made->length = static_cast<std::uint32_t>(length);
  return made;
}

[[nodiscard]] inline text* make_text(region& r, std::string_view characters) {
  text* const made = make_text(r, characters.size());
  if (!characters.empty()) std::memcpy(made->characters(), characters.data(), characters.size());
  return made;
}

[[nodiscard]] inline value own_text(text* t) noexcept {
  value v;
  v.is = type::string;
  v.owned = true;
  v.text = t;
  return v;
}

[[nodiscard]] inline value own_text(region& r, std::string_view characters) {
  return own_text(make_text(r, characters));
}

}  // namespace mallard::programs
