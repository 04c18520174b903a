// token: one word of a source text, of either program.
#pragma once

#include <cstdint>
#include <string_view>

namespace mallard::programs {

enum class token_kind : std::uint8_t { end, name, integer, string, sign };

// `text` lies in the source; of strings it is what stands between the quotes, escapes unread.
struct token {
  token_kind kind = token_kind::end;
  std::uint32_t line = 0;
  std::string_view text;
  std::int64_t integer = 0;

  [[nodiscard]] bool is(std::string_view sign_or_word) const noexcept {
    return (kind == token_kind::sign || kind == token_kind::name) && text == sign_or_word;
  }
};

}  // namespace mallard::programs
