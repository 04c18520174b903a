// chunk_memory: the memory of the model suite's chunks, of which a program makes a hundred thousand.
//
// A chunk has an address that posix_memalign finds only in a block of twice its size, and AddressSanitizer
// maps and unmaps each block that large: up to half of a test's time. Here pages stay mapped.
// AddressSanitizer sees each access to them that is outside a chunk. Where it is not at work, a redzone
// behind each chunk and the bytes of a chunk that was given back are looked at when memory is given back or
// taken again. A chunk of more than 1 MiB is a block of the C library, which ends where the chunk ends.
#pragma once

#include <gtest/gtest.h>
#include <sanitizer/asan_interface.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include "mallard/core/align.hpp"

namespace mallard::model {

class chunk_memory {
 public:
  // Of the program: registries come and go, pages stay.
  [[nodiscard]] static chunk_memory& instance() {
    static chunk_memory& all = *new chunk_memory;
    return all;
  }

  // size bytes, which begin align bytes after a multiple of twice align, and of 64 KiB; null if there are
  // none. Any thread may call.
  [[nodiscard]] std::byte* take(std::size_t size, std::size_t align) {
    const room r = room_of(size, align);
    if (r.is_large()) {
      void* block = nullptr;
      if (posix_memalign(&block, r.alignment, align + size) != 0) return nullptr;
      return static_cast<std::byte*>(block) + align;
    }
    const std::lock_guard lock(mutex_);
    std::deque<returned>& waiting = waiting_[{r.size, r.alignment}];
    std::byte* begin = nullptr;
    if (waiting.size() * r.size >= quarantine) {
      const returned oldest = waiting.front();
      waiting.pop_front();
      ASAN_UNPOISON_MEMORY_REGION(oldest.chunk, oldest.size);
      EXPECT_TRUE(is_filled(oldest.chunk, oldest.size, ended)) << "written to after it was given back";
      begin = oldest.chunk - oldest.align;
      ASAN_POISON_MEMORY_REGION(begin, r.size);
    } else if ((begin = carve(r)) == nullptr) {
      return nullptr;
    }
    std::byte* const chunk = begin + align;
    ASAN_UNPOISON_MEMORY_REGION(chunk, size + redzone);
    std::memset(chunk + size, beyond, redzone);
    ASAN_POISON_MEMORY_REGION(chunk + size, redzone);
    return chunk;
  }

  // Takes back what take(size, align) gave. Any thread may call.
  void give_back(std::byte* chunk, std::size_t size, std::size_t align) {
    const room r = room_of(size, align);
    if (r.is_large()) return std::free(chunk - align);
    ASAN_UNPOISON_MEMORY_REGION(chunk + size, redzone);
    EXPECT_TRUE(is_filled(chunk + size, redzone, beyond)) << "written to behind a chunk";
    std::memset(chunk, ended, size);  // for ThreadSanitizer a write, with which whatever is late races
    ASAN_POISON_MEMORY_REGION(chunk - align, r.size);
    const std::lock_guard lock(mutex_);
    waiting_[{r.size, r.alignment}].push_back({chunk, size, align});
  }

 private:
  static constexpr std::size_t least_alignment = std::size_t{1} << 16;
  static constexpr std::size_t large = std::size_t{1} << 20;
  static constexpr std::size_t segment = std::size_t{16} << 20;
  // Bytes of a size that wait before the oldest of them serve again.
  static constexpr std::size_t quarantine = std::size_t{8} << 20;
  static constexpr std::size_t redzone = 256;
  static constexpr int beyond = 0xbe;
  static constexpr int ended = 0xed;

  // What a chunk takes, with what is before it and its redzone: bytes.
  struct room {
    std::size_t size, alignment;

    [[nodiscard]] bool is_large() const { return size > large || alignment > large; }
  };

  struct returned {
    std::byte* chunk;
    std::size_t size, align;
  };

  [[nodiscard]] static room room_of(std::size_t size, std::size_t align) {
    const std::size_t alignment = align > least_alignment / 2 ? 2 * align : least_alignment;
    return {align_up(align + size + redzone, least_alignment), alignment};
  }

  [[nodiscard]] static bool is_filled(const std::byte* p, std::size_t size, int value) {
    return std::to_integer<int>(*p) == value && std::memcmp(p, p + 1, size - 1) == 0;
  }

  [[nodiscard]] std::byte* carve(room r) {
    if (rest_ < r.size + r.alignment) {
      constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
      void* const pages = mmap(nullptr, segment, PROT_READ | PROT_WRITE, flags, -1, 0);
      if (pages == MAP_FAILED) return nullptr;
      ASAN_POISON_MEMORY_REGION(pages, segment);
      next_ = static_cast<std::byte*>(pages);
      rest_ = segment;
    }
    const std::size_t padding = align_up(address_of(next_), r.alignment) - address_of(next_);
    std::byte* const begin = next_ + padding;
    next_ = begin + r.size;
    rest_ -= padding + r.size;
    return begin;
  }

  std::mutex mutex_;
  std::byte* next_ = nullptr;
  std::size_t rest_ = 0;
  std::map<std::pair<std::size_t, std::size_t>, std::deque<returned>> waiting_;
};

}  // namespace mallard::model
