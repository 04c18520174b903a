// chunk_memory: the memory of the model suite's chunks, which come and go a hundred thousand times in a
// program.
//
// A chunk lies at a place that an allocator finds only in twice its size, and under AddressSanitizer any
// block of 64 KiB is a mapping of its own, made and undone each time: half of what the suite took. Here pages
// stay, and are poisoned while no chunk has them, with all that lies between chunks; what was given back
// longest ago is taken first, and not before 16 MiB wait. A border behind each chunk tells what wrote past it
// where no sanitizer does.
#pragma once

#include <gtest/gtest.h>
#include <sanitizer/asan_interface.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <string_view>
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
    void* origin = nullptr;
    if (r.is_large()) {
      if (posix_memalign(&origin, r.place, align + size) != 0) return nullptr;
      return static_cast<std::byte*>(origin) + align;
    }
    const std::lock_guard lock(mutex_);
    std::deque<std::byte*>& waiting = waiting_[{r.size, r.place}];
    std::byte* begin = nullptr;
    if (!waiting.empty() && waiting_bytes_ >= delay) {
      begin = waiting.front();
      waiting.pop_front();
      waiting_bytes_ -= r.size;
    } else if ((begin = carve(r)) == nullptr) {
      return nullptr;
    }
    std::byte* const chunk = begin + align;
    ASAN_UNPOISON_MEMORY_REGION(chunk, size + border.size());
    std::memcpy(chunk + size, border.data(), border.size());
    ASAN_POISON_MEMORY_REGION(chunk + size, border.size());
    return chunk;
  }

  // Takes back what take(size, align) gave.
  void give_back(std::byte* chunk, std::size_t size, std::size_t align) {
    const room r = room_of(size, align);
    std::byte* const begin = chunk - align;
    if (r.is_large()) return std::free(begin);
    ASAN_UNPOISON_MEMORY_REGION(chunk + size, border.size());
    EXPECT_EQ(std::memcmp(chunk + size, border.data(), border.size()), 0) << "written to behind a chunk";
    ASAN_POISON_MEMORY_REGION(begin, r.size);
    const std::lock_guard lock(mutex_);
    waiting_[{r.size, r.place}].push_back(begin);
    waiting_bytes_ += r.size;
  }

 private:
  static constexpr std::size_t least_place = std::size_t{1} << 16;
  static constexpr std::size_t large = std::size_t{1} << 20;
  static constexpr std::size_t segment = std::size_t{16} << 20;
  static constexpr std::size_t delay = std::size_t{16} << 20;

  static constexpr std::string_view border = "behind the chunk";

  // What a chunk takes, with its border, in bytes, and what its begin is a multiple of.
  struct room {
    std::size_t size, place;

    [[nodiscard]] bool is_large() const { return size > large || place > large; }
  };

  [[nodiscard]] static room room_of(std::size_t size, std::size_t align) {
    const std::size_t place = align > least_place / 2 ? 2 * align : least_place;
    return {align_up(align + size + border.size(), least_place), place};
  }

  [[nodiscard]] std::byte* carve(room r) {
    if (rest_ < r.size + r.place) {
      void* const pages =
          mmap(nullptr, segment, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (pages == MAP_FAILED) return nullptr;
      ASAN_POISON_MEMORY_REGION(pages, segment);
      next_ = static_cast<std::byte*>(pages);
      rest_ = segment;
    }
    const std::size_t padding = align_up(address_of(next_), r.place) - address_of(next_);
    std::byte* const begin = next_ + padding;
    next_ = begin + r.size;
    rest_ -= padding + r.size;
    return begin;
  }

  std::mutex mutex_;
  std::byte* next_ = nullptr;
  std::size_t rest_ = 0;
  std::map<std::pair<std::size_t, std::size_t>, std::deque<std::byte*>> waiting_;
  std::size_t waiting_bytes_ = 0;
};

}  // namespace mallard::model
