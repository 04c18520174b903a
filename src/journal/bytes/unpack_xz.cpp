#include <lzma.h>

#include <algorithm>
#include <array>
#include <new>

#include "journal/bytes/input.hpp"

namespace mallard::journal {
namespace {

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

std::unique_ptr<byte_stream> unpack_xz(input packed) {
  return std::make_unique<xz_stream>(std::move(packed));
}

input unpacked(input from) {
  const byte_span head = from.peek(xz_magic.size());
  return std::ranges::equal(head, xz_magic) ? input(unpack_xz(std::move(from))) : std::move(from);
}

}  // namespace mallard::journal
