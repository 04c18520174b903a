#include "journal/bytes/output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace mallard::journal {

output::output(const std::filesystem::path& path)
    : file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
  if (file_ < 0) throw write_error(std::strerror(errno));
}

output::~output() {
  if (file_ >= 0) ::close(file_);
}

void output::append(byte_span bytes) {
  byte_span left = bytes;
  while (!left.empty()) {
    const ssize_t written = ::write(file_, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const int reason = written < 0 ? errno : ENOSPC;
      // Where the file cannot be cut, a reader skips the incomplete chunk.
      [[maybe_unused]] const int cut = ::ftruncate(file_, static_cast<off_t>(size_));
      throw write_error(std::strerror(reason));
    }
    left = left.subspan(static_cast<std::size_t>(written));
  }
  size_ += bytes.size();
}

void output::close() {
  const int closing = file_;
  file_ = -1;
  if (::close(closing) != 0) throw write_error(std::strerror(errno));
}

}  // namespace mallard::journal
