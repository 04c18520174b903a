// memory_stream: a journal that lies in memory instead of in a file.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "journal/bytes/input.hpp"
#include "journal/open.hpp"

namespace mallard::journal {

class memory_stream final : public byte_stream {
 public:
  explicit memory_stream(std::string_view bytes) : bytes_(bytes) {}

  std::size_t read(unsigned char* to, std::size_t size) override {
    const std::size_t count = std::min(size, bytes_.size() - at_);
    std::copy_n(bytes_.data() + at_, count, to);
    at_ += count;
    return count;
  }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

inline std::unique_ptr<event_source> open_bytes(std::string_view bytes) {
  return open(input(std::make_unique<memory_stream>(bytes)));
}

}  // namespace mallard::journal
