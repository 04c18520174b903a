// A spool in memory, as a program and a launcher would share it, for tests of what reads it.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>

#include "journal/spool/spool.hpp"

namespace mallard::test {

class memory_spool {
 public:
  explicit memory_spool(std::size_t ring_bytes)
      : bytes_(journal::spool_bytes(ring_bytes / 8)),
        pages_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                    0)) {
    header_ = ::new (pages_) journal::spool_header{};
    header_->magic = journal::spool_magic;
    header_->options.ring_words = ring_bytes / 8;
    header_->contexts_used = 1;
  }
  ~memory_spool() { munmap(pages_, bytes_); }
  memory_spool(const memory_spool&) = delete;
  memory_spool& operator=(const memory_spool&) = delete;

  [[nodiscard]] journal::spool_header* header() const noexcept { return header_; }

 private:
  std::size_t bytes_;
  void* pages_;
  journal::spool_header* header_;
};

}  // namespace mallard::test
