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
