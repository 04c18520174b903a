// lexer: the words of a source text, one after the other, with one to look at.
//
//     lexer words(text);     words.now() is the first        names, integers, "strings", signs of one to
//     words.take();          returns it and goes on          three characters; # and // comment to the end
//
// Allocates nothing. A character that begins no word ends the program with its line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mallard::programs {

// One word of a source text.
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

class lexer {
 public:
  explicit lexer(std::string_view text) : text_(text) { read(); }

  [[nodiscard]] const token& now() const noexcept { return now_; }
  [[nodiscard]] bool at(std::string_view word) const noexcept { return now_.is(word); }

  token take() {
    const token taken = now_;
    read();
    return taken;
  }

  // Takes the word if it is the one.
  bool accept(std::string_view word) {
    if (!at(word)) return false;
    read();
    return true;
  }

  // Takes the word, or ends the program if it is another.
  void expect(std::string_view word);
  [[nodiscard]] std::string_view expect_name();

 private:
  void read();
  void skip_blanks();
  void read_integer();
  void read_string();
  void read_sign();
  void end_word(token_kind kind, std::size_t end) noexcept {
    now_.kind = kind;
    now_.text = text_.substr(at_, end - at_);
    at_ = end;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  token now_;
};

}  // namespace mallard::programs
