// A journal's file: input, its bytes with a look ahead, unpacked where it is .xz; and output, which grows by
// whole chunks or not at all.
//
//     file --> [xz] --> | consumed | ......peek(n)...... | more to come
//
// The buffer grows only as bytes really arrive, so asking for more than there is costs nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "journal/bytes/wire.hpp"

namespace mallard::journal {

class byte_stream {
 public:
  virtual ~byte_stream() = default;

  // Fills up to `size` bytes at `to`; fewer only at the end. Throws journal::error.
  virtual std::size_t read(unsigned char* to, std::size_t size) = 0;

  // The share of the bytes that has been read, 0..1; 0 where their number is not known.
  [[nodiscard]] virtual double progress() const { return 0; }

  // Why the end came too early; empty if it did not, as far as this stream can know.
  [[nodiscard]] virtual std::string defect() const { return {}; }
};

// Its first `limit` bytes.
[[nodiscard]] std::unique_ptr<byte_stream> open_file(const std::filesystem::path& path,
                                                     std::uint64_t limit = UINT64_MAX);

class input {
 public:
  explicit input(std::unique_ptr<byte_stream> from) : from_(std::move(from)) {}

  // The next `size` bytes, or all that are left if those are fewer; valid until the next peek().
  [[nodiscard]] byte_span peek(std::size_t size);

  // As peek(size), with all that lies in the buffer already behind it.
  [[nodiscard]] byte_span peek_all(std::size_t size);

  // Goes forward by `size` bytes, which have been peeked at.
  void consume(std::size_t size) noexcept {
    begin_ += size;
    position_ += size;
  }

  [[nodiscard]] std::uint64_t position() const noexcept { return position_; }  // bytes consumed so far
  [[nodiscard]] double progress() const { return from_->progress(); }
  [[nodiscard]] std::string defect() const { return from_->defect(); }

 private:
  std::unique_ptr<byte_stream> from_;
  byte_vector buffer_;
  std::size_t begin_ = 0;  // [begin_, end_) of the buffer is read but not consumed
  std::size_t end_ = 0;
  std::uint64_t position_ = 0;
  bool exhausted_ = false;
};

// What the .xz streams in `packed` hold, one after the other.
[[nodiscard]] std::unique_ptr<byte_stream> unpack_xz(input packed);

// The bytes unpacked, if their first ones are those of a known packing; otherwise these bytes themselves.
[[nodiscard]] input unpacked(input from);

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
