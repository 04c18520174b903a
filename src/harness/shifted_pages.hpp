// shifted_pages: cached pages whose blocks begin a set number of bytes into their first page.
//
//     [ shift |  block ....................|  rest of a page ]
//     ^ page
//
// Chunks of a heap begin at pages, so that what lies at the start of one shares cache sets with what lies at
// the start of every other. This moves all of them. A chunk takes a page more whatever the shift, 0 too, so
// that shifts differ in nothing but the place. The shift is the process's; chunks that ask for more alignment
// than 64 stay where they are, and take no more. Cost: two tests and some additions a chunk.
#pragma once

#include <cstddef>

#include "mallard/core/block.hpp"
#include "mallard/source/default_source.hpp"

namespace mallard::harness {

class shifted_pages {
 public:
  // Bytes; can_be_shift() is true of them. To be set while nothing is allocated.
  static inline std::size_t shift = 0;

  [[nodiscard]] static constexpr bool can_be_shift(std::size_t bytes) noexcept {
    return bytes < page && bytes % most_align == 0;
  }

  shifted_pages() = default;
  shifted_pages(const shifted_pages&) = delete;
  shifted_pages& operator=(const shifted_pages&) = delete;

  [[nodiscard]] std::size_t received_size(std::size_t size, std::size_t align) const noexcept {
    return pages_.received_size(size + room(align), align) - room(align);
  }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align) noexcept {
    return shifted(pages_.allocate(size + room(align), align), align);
  }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align, bool& is_fresh) noexcept {
    return shifted(pages_.allocate(size + room(align), align, is_fresh), align);
  }

  void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    pages_.deallocate(static_cast<std::byte*>(p) - offset(align), size + room(align), align);
  }

 private:
  static constexpr std::size_t page = 4096;
  static constexpr std::size_t most_align = 64;

  static block shifted(block whole, std::size_t align) noexcept {
    if (whole.data == nullptr) [[unlikely]]
      return {};
    return {static_cast<std::byte*>(whole.data) + offset(align), whole.size - room(align)};
  }

  static std::size_t offset(std::size_t align) noexcept { return align > most_align ? 0 : shift; }
  static constexpr std::size_t room(std::size_t align) noexcept { return align > most_align ? 0 : page; }

  cached_pages pages_;
};

}  // namespace mallard::harness
