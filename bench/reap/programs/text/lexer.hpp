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

#include "programs/text/token.hpp"

namespace mallard::programs {

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
