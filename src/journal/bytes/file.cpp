#include "journal/bytes/file.hpp"

#include <fcntl.h>
#include <lzma.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

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

constexpr std::array<unsigned char, 6> xz_magic = {0xfd, '7', 'z', 'X', 'Z', 0x00};
constexpr std::uint64_t max_memory = std::uint64_t{512} << 20;  // bytes that a file may ask the unpacking for

class xz_stream final : public byte_stream {
 public:
  explicit xz_stream(input packed) : packed_(std::move(packed)) {
    if (lzma_stream_decoder(&decoder_, max_memory, LZMA_CONCATENATED) != LZMA_OK) throw std::bad_alloc();
  }
  ~xz_stream() override { lzma_end(&decoder_); }
  xz_stream(const xz_stream&) = delete;
  xz_stream& operator=(const xz_stream&) = delete;

  std::size_t read(unsigned char* to, std::size_t size) override {
    decoder_.next_out = to;
    decoder_.avail_out = size;
    while (decoder_.avail_out > 0 && !ended_) step();
    return size - decoder_.avail_out;
  }

  [[nodiscard]] double progress() const override { return packed_.progress(); }
  [[nodiscard]] std::string defect() const override { return defect_; }

 private:
  void step() {
    const byte_span ahead = packed_.peek_all(1);
    decoder_.next_in = ahead.data();
    decoder_.avail_in = ahead.size();
    const lzma_ret result = lzma_code(&decoder_, ahead.empty() ? LZMA_FINISH : LZMA_RUN);
    packed_.consume(ahead.size() - decoder_.avail_in);
    if (result == LZMA_OK) return;
    ended_ = true;
    if (result == LZMA_STREAM_END) return;
    if (result == LZMA_MEM_ERROR) throw std::bad_alloc();
    if (result == LZMA_MEMLIMIT_ERROR) throw error("unpacking it takes more than 512 MiB");
    defect_ = result == LZMA_BUF_ERROR ? "the .xz file is cut off" : "the .xz file is damaged";
  }

  input packed_;
  lzma_stream decoder_ = LZMA_STREAM_INIT;
  bool ended_ = false;
  std::string defect_;
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

std::unique_ptr<byte_stream> unpack_xz(input packed) {
  return std::make_unique<xz_stream>(std::move(packed));
}

input unpacked(input from) {
  const byte_span head = from.peek(xz_magic.size());
  return std::ranges::equal(head, xz_magic) ? input(unpack_xz(std::move(from))) : std::move(from);
}

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
