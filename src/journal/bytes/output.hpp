// output: a file that grows by whole chunks, or not at all.
#pragma once

#include <cstdint>
#include <filesystem>

#include "journal/bytes/wire.hpp"

namespace mallard::journal {

// A journal cannot be written: the system's reason.
class write_error : public error {
 public:
  using error::error;
};

class output {
 public:
  // Makes the file, or empties it; throws journal::error, as every member does.
  explicit output(const std::filesystem::path& path);
  ~output();
  output(const output&) = delete;
  output& operator=(const output&) = delete;

  // Appends `bytes`; on an error the file is as long as before.
  void append(byte_span bytes);

  // Closes the file; nothing can be appended afterwards.
  void close();

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

 private:
  int file_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace mallard::journal
