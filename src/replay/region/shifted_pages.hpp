// shifted_pages: cached pages whose blocks begin so many bytes into their first page.
//
//     [ shift |  block ....................|  rest of a page ]
//     ^ page
//
// Chunks of a heap begin at pages, so that what lies at the start of one shares cache sets with what lies at
// the start of every other. This moves all of them. Sizes received are those of pages without a shift: a
// chunk costs a page more, and is as large. The shift is the process's; it is a multiple of 64, and chunks
// that ask for more alignment stay where they are. Cost: a test a chunk.
#pragma once

#include <cstddef>

#include "mallard/core/block.hpp"
#include "mallard/source/cached_pages.hpp"

namespace mallard::replay {

class shifted_pages {
 public:
  // Bytes, below a page; to be set before anything is allocated.
  static inline std::size_t shift = 0;

  shifted_pages() = default;
  shifted_pages(const shifted_pages&) = delete;
  shifted_pages& operator=(const shifted_pages&) = delete;

  [[nodiscard]] std::size_t received_size(std::size_t size, std::size_t align) const noexcept {
    return pages_.received_size(size, align);
  }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align) noexcept {
    const std::size_t received = received_size(size, align);
    const block whole = pages_.allocate(received + room(align), align);
    if (whole.data == nullptr) return {};
    return {static_cast<std::byte*>(whole.data) + offset(align), received};
  }

  void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    pages_.deallocate(static_cast<std::byte*>(p) - offset(align), received_size(size, align) + room(align),
                      align);
  }

 private:
  static constexpr std::size_t page = 4096;

  static std::size_t offset(std::size_t align) noexcept { return align > 64 ? 0 : shift; }
  static std::size_t room(std::size_t align) noexcept { return offset(align) == 0 ? 0 : page; }

  cached_pages pages_;
};

}  // namespace mallard::replay
