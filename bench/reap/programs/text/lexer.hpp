// lexer: a source text, and its words, one after the other, with one to look at.
//
//     lexer words(text);     words.now() is the first        names, integers, "strings", signs of one to
//     words.take();          returns it and goes on          three characters; # and // comment to the end
//
// Allocates nothing: the file is mapped, so that it is no block of any region. Where it cannot be read the
// program ends with one line and exit code 2; by a mistake in it, also a character that begins no word, with
// one line, "line 12: no such variable: x", and exit code 1.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace mallard::programs {

// A whole input file in memory.
class source_text {
 public:
  explicit source_text(const char* path) {
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    struct stat facts{};
    if (file < 0 || ::fstat(file, &facts) != 0) end_unread(path);
    size_ = static_cast<std::size_t>(facts.st_size);
    if (size_ != 0) data_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
    ::close(file);
    if (data_ == MAP_FAILED) end_unread(path);
  }
  source_text(const source_text&) = delete;
  source_text& operator=(const source_text&) = delete;
  ~source_text() {
    if (data_ != nullptr) ::munmap(data_, size_);
  }

  [[nodiscard]] std::string_view view() const noexcept { return {static_cast<const char*>(data_), size_}; }

 private:
  [[noreturn]] static void end_unread(const char* path) {
    std::fprintf(stderr, "%s: cannot be read\n", path);
    std::exit(2);
  }

  void* data_ = nullptr;
  std::size_t size_ = 0;
};

// Ends the program by a mistake in its input.
[[noreturn]] inline void fail(std::uint32_t line, std::string_view what, std::string_view name = {}) {
  std::fflush(stdout);
  std::fprintf(stderr, "line %u: %.*s%s%.*s\n", line, static_cast<int>(what.size()), what.data(),
               name.empty() ? "" : ": ", static_cast<int>(name.size()), name.data());
  std::exit(1);
}

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

[[nodiscard]] inline bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
[[nodiscard]] inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Longer signs first: the first that fits is the longest.
inline constexpr std::array<std::string_view, 23> long_signs = {
    "<<=", ">>=", "==", "!=", "<=", ">=", "&&", "||", "<<", ">>", "+=", "-=",
    "*=",  "/=",  "%=", "&=", "|=", "^=", "++", "--", "->", "..", "=>"};
inline constexpr std::string_view short_signs = "+-*/%<>=!&|^~(){}[],;:.?";

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

inline void lexer::expect(std::string_view word) {
  if (!accept(word)) fail(now_.line, "expected another word than this", now_.text);
}

inline std::string_view lexer::expect_name() {
  if (now_.kind != token_kind::name) fail(now_.line, "expected a name", now_.text);
  return take().text;
}

inline void lexer::skip_blanks() {
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

inline void lexer::read() {
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

inline void lexer::read_integer() {
  std::size_t end = at_;
  std::uint64_t sum = 0;
  while (end < text_.size() && is_digit(text_[end])) {
    sum = sum * 10 + static_cast<std::uint64_t>(text_[end] - '0');
    ++end;
  }
  now_.integer = static_cast<std::int64_t>(sum);
  end_word(token_kind::integer, end);
}

inline void lexer::read_string() {
  std::size_t end = ++at_;
  while (end < text_.size() && text_[end] != '"' && text_[end] != '\n')
    end += text_[end] == '\\' ? std::size_t{2} : std::size_t{1};
  if (end >= text_.size() || text_[end] != '"') fail(line_, "a string does not end");
  end_word(token_kind::string, end);
  ++at_;
}

inline void lexer::read_sign() {
  const std::string_view rest = text_.substr(at_);
  for (const std::string_view sign : long_signs)
    if (rest.substr(0, sign.size()) == sign) return end_word(token_kind::sign, at_ + sign.size());
  if (short_signs.find(rest[0]) == std::string_view::npos)
    fail(line_, "no word begins so", rest.substr(0, 1));
  end_word(token_kind::sign, at_ + 1);
}

}  // namespace mallard::programs
