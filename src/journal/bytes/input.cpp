#include "journal/bytes/input.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace mallard::journal {
namespace {

constexpr std::size_t block_size = std::size_t{1} << 18;  // bytes: what is read at once, at least

class file_stream final : public byte_stream {
 public:
  file_stream(const std::filesystem::path& path, std::uint64_t limit)
      : file_(std::fopen(path.c_str(), "rbe")), left_(limit) {
    if (!file_) throw error(std::strerror(errno));
    struct stat about{};
    if (::fstat(::fileno(file_.get()), &about) == 0 && S_ISREG(about.st_mode))
      size_ = std::min<std::uint64_t>(limit, static_cast<std::uint64_t>(about.st_size));
    std::setvbuf(file_.get(), nullptr, _IONBF, 0);
  }

  std::size_t read(unsigned char* to, std::size_t size) override {
    const std::size_t wanted = std::min<std::uint64_t>(size, left_);
    const std::size_t got = std::fread(to, 1, wanted, file_.get());
    left_ -= got;
    read_ += got;
    if (got < wanted && std::ferror(file_.get()) != 0) throw error(std::strerror(errno));
    return got;
  }

  [[nodiscard]] double progress() const override {
    return size_ == 0 ? 0 : std::min(1.0, static_cast<double>(read_) / static_cast<double>(size_));
  }

 private:
  struct close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, close> file_;
  std::uint64_t left_;
  std::uint64_t read_ = 0;  // bytes
  std::uint64_t size_ = 0;  // bytes; 0: unknown
};

}  // namespace

std::unique_ptr<byte_stream> open_file(const std::filesystem::path& path, std::uint64_t limit) {
  return std::make_unique<file_stream>(path, limit);
}

byte_span input::peek(std::size_t size) {
  const byte_span all = peek_all(size);
  return all.first(std::min(size, all.size()));
}

byte_span input::peek_all(std::size_t size) {
  while (end_ - begin_ < size && !exhausted_) {
    if (begin_ > 0) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    if (buffer_.size() < end_ + block_size) buffer_.resize(std::max(end_ + block_size, 2 * buffer_.size()));
    const std::size_t wanted = std::clamp(size - end_, block_size, buffer_.size() - end_);
    const std::size_t got = from_->read(buffer_.data() + end_, wanted);
    exhausted_ = got < wanted;
    end_ += got;
  }
  return {buffer_.data() + begin_, end_ - begin_};
}

}  // namespace mallard::journal
