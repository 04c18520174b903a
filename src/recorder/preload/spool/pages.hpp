// pages: private memory of the recorder, zeroed, directly from the system, so that nobody can intercept it.
#pragma once

#include <sys/mman.h>

#include <cstddef>

namespace mallard::recorder {

// `bytes` rounded up to whole pages; null if there are none. Nothing is taken before it is touched.
[[nodiscard]] inline void* map_pages(std::size_t bytes) noexcept {
  void* mapped =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return mapped == MAP_FAILED ? nullptr : mapped;
}

inline void unmap_pages(void* pages, std::size_t bytes) noexcept {
  if (pages != nullptr) munmap(pages, bytes);
}

}  // namespace mallard::recorder
