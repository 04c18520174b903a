// source_text: a whole input file in memory, mapped, so that it is no block of any region.
//
// Where the file cannot be read the program ends with one line and exit code 2; by a mistake in it with one
// line, "line 12: no such variable: x", and exit code 1.
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

}  // namespace mallard::programs
