#include "programs/text/lexer.hpp"

#include <array>

namespace mallard::programs {

namespace {

bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Longer signs first: the first that fits is the longest.
constexpr std::array<std::string_view, 23> long_signs = {"<<=", ">>=", "==", "!=", "<=", ">=", "&&", "||",
                                                         "<<",  ">>",  "+=", "-=", "*=", "/=", "%=", "&=",
                                                         "|=",  "^=",  "++", "--", "->", "..", "=>"};
constexpr std::string_view short_signs = "+-*/%<>=!&|^~(){}[],;:.?";

}  // namespace

void lexer::expect(std::string_view word) {
  if (!accept(word)) fail(now_.line, "expected another word than this", now_.text);
}

std::string_view lexer::expect_name() {
  if (now_.kind != token_kind::name) fail(now_.line, "expected a name", now_.text);
  return take().text;
}

void lexer::skip_blanks() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '#' || text_.substr(at_, 2) == "//") {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      line_ += static_cast<std::uint32_t>(c == '\n');
      ++at_;
    } else {
      return;
    }
  }
}

void lexer::read() {
  skip_blanks();
  now_ = {};
  now_.line = line_;
  if (at_ == text_.size()) return;
  const char c = text_[at_];
  if (begins_name(c)) {
    std::size_t end = at_ + 1;
    while (end < text_.size() && (begins_name(text_[end]) || is_digit(text_[end]))) ++end;
    end_word(token_kind::name, end);
  } else if (is_digit(c)) {
    read_integer();
  } else if (c == '"') {
    read_string();
  } else {
    read_sign();
  }
}

void lexer::read_integer() {
  std::size_t end = at_;
  std::uint64_t sum = 0;
  while (end < text_.size() && is_digit(text_[end])) {
    sum = sum * 10 + static_cast<std::uint64_t>(text_[end] - '0');
    ++end;
  }
  now_.integer = static_cast<std::int64_t>(sum);
  end_word(token_kind::integer, end);
}

void lexer::read_string() {
  std::size_t end = ++at_;
  while (end < text_.size() && text_[end] != '"' && text_[end] != '\n')
    end += text_[end] == '\\' ? std::size_t{2} : std::size_t{1};
  if (end >= text_.size() || text_[end] != '"') fail(line_, "a string does not end");
  end_word(token_kind::string, end);
  ++at_;
}

void lexer::read_sign() {
  const std::string_view rest = text_.substr(at_);
  for (const std::string_view sign : long_signs)
    if (rest.substr(0, sign.size()) == sign) return end_word(token_kind::sign, at_ + sign.size());
  if (short_signs.find(rest[0]) == std::string_view::npos)
    fail(line_, "no word begins so", rest.substr(0, 1));
  end_word(token_kind::sign, at_ + 1);
}

}  // namespace mallard::programs
