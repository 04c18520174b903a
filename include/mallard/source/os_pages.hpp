// os_pages: whole pages from the operating system.
//
//     request  [ size            ]
//     mapped   [ page | page | page ]      received = whole pages, zeroed by the kernel
//
// For an alignment above the page size, where a mapping is not so aligned by chance, it maps `align` bytes
// more and unmaps both ends at once, so a block never holds more than its own pages. It has no state: any
// os_pages may free a block of another. At the kernel's limit of mappings, unmapping a block between two
// others may fail, as it would split one mapping into two. Its memory then goes back, but its addresses stay
// taken until the process ends. Cost: one system call per operation, up to five for a stricter alignment, and
// one page fault per page at its first touch.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/check.hpp"

namespace mallard {

class os_pages {
 public:
  static constexpr bool is_concurrent = true;
  static constexpr bool is_divisible =
      true;  // a part of a block may be given back, and adjacent ones at once

  os_pages() = default;
  os_pages(const os_pages&) = delete;
  os_pages& operator=(const os_pages&) = delete;

#if defined(__x86_64__)
  // The only page size used.
  [[nodiscard]] static constexpr std::size_t page_size() noexcept { return 4096; }
#else
  [[nodiscard]] MALLARD_NOINLINE static std::size_t page_size() noexcept {
    static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return size;
  }
#endif

  // Lets the system provide `bytes` bytes of pages from `p` on, a page's begin, at once instead of a page at
  // each first touch. Only a hint: memory that is there already stays as it is, and errno what it was.
  static void populate(void* p, std::size_t bytes) noexcept {
    const int saved_errno = errno;
#if defined(MADV_POPULATE_WRITE)
    ::madvise(p, bytes, MADV_POPULATE_WRITE);
#else
    ::madvise(p, bytes, 23);  // since Linux 5.14; others refuse it
#endif
    errno = saved_errno;
  }

  // The members of a heap, though this one has no state.
  // NOLINTBEGIN(readability-convert-member-functions-to-static, readability-make-member-function-const)
  [[nodiscard]] std::size_t received_size(std::size_t size, std::size_t align) const noexcept {
    if (size > max_request - page_size() || align > max_request) return 0;
    return align_up(size == 0 ? 1 : size, page_size());
  }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align) noexcept {
    MALLARD_CHECK(is_valid_align(align));
    const std::size_t pages = received_size(size, align);
    if (pages == 0) return {};
    if (align <= page_size()) return map(pages);
    return map_aligned(pages, align);
  }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align, bool& is_fresh) noexcept {
    const block pages = allocate(size, align);
    is_fresh = static_cast<bool>(pages);
    return pages;
  }

  void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    unmap(p, received_size(size, align));
  }
  // NOLINTEND(readability-convert-member-functions-to-static, readability-make-member-function-const)

 private:
  static block map(std::size_t bytes) noexcept {
    void* p = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return {};
    return {p, bytes};
  }

  static block map_aligned(std::size_t pages, std::size_t align) noexcept {
    const block narrow = map(pages);
    if (!narrow || is_aligned(narrow.data, align)) return narrow;
    unmap(narrow.data, pages);
    const std::size_t spare = align - page_size();
    const block wide = map(pages + spare);
    if (!wide) return {};
    auto* const start = static_cast<std::byte*>(wide.data);
    const std::size_t before = padding_for(start, align);
    unmap(start, before);
    unmap(start + before + pages, spare - before);
    return {start + before, pages};
  }

  static void unmap(void* p, std::size_t bytes) noexcept {
    if (bytes == 0) return;
    if (::munmap(p, bytes) == 0) return;
    MALLARD_CHECK(errno == ENOMEM);
    ::madvise(p, bytes, MADV_DONTNEED);
  }
};

}  // namespace mallard
