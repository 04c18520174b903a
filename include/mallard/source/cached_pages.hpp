// cached_pages: whole pages, from the process's chunk cache or else from the operating system.
//
//     heap --> cached_pages --> process_chunks() --> os_pages
//
// Like os_pages it has no state: a block of one may be given back to another, on any thread. Unlike
// theirs, its pages are not zero. `os_pages` in its place makes a heap that never shares with others.
// Received sizes are whole pages; above 64 of them up to 1/32 more than asked for (chunk_sizes.hpp).
// Cost: about 60 instructions where a chunk of the size is cached, else the system's.
#pragma once

#include <cstddef>

#include "mallard/core/block.hpp"
#include "mallard/source/process_chunks.hpp"

namespace mallard {

class cached_pages {
 public:
  static constexpr bool is_concurrent = true;

  cached_pages() = default;
  cached_pages(const cached_pages&) = delete;
  cached_pages& operator=(const cached_pages&) = delete;

  // The members of a heap, though this one has no state.
  // NOLINTBEGIN(readability-convert-member-functions-to-static, readability-make-member-function-const)
  [[nodiscard]] std::size_t received_size(std::size_t size, std::size_t align) const noexcept {
    return process_chunks().received_size(size, align);
  }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align) noexcept {
    return process_chunks().allocate(size, align);
  }

  void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    process_chunks().deallocate(p, size, align);
  }

  // The pages are not cached.
  void return_to_system(void* p, std::size_t size, std::size_t align) noexcept {
    process_chunks().return_to_system(p, size, align);
  }
  // NOLINTEND(readability-convert-member-functions-to-static, readability-make-member-function-const)
};

}  // namespace mallard
