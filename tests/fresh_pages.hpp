// fresh_pages: small pages of the system, fresh or said not to be, of which a test sees the resident ones.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstddef>
#include <vector>

#include "mallard/core/block.hpp"
#include "mallard/source/os_pages.hpp"

namespace mallard {

class fresh_pages {
 public:
  [[nodiscard]] std::size_t received_size(std::size_t size, std::size_t align) const noexcept {
    return pages_.received_size(size, align);
  }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align) noexcept {
    const block given = pages_.allocate(size, align);
    if (given) {
      ::madvise(given.data, given.size, MADV_NOHUGEPAGE);
      out_.push_back(given);
    }
    return given;
  }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align, bool& is_fresh) noexcept {
    const block given = allocate(size, align);
    is_fresh = given && are_fresh;
    return given;
  }

  void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    std::erase_if(out_, [&](const block& b) { return b.data == p; });
    pages_.deallocate(p, size, align);
  }

  // Whether the system populates pages on request: since Linux 5.14.
  [[nodiscard]] static bool can_be_populated() {
    fresh_pages pages;
    const block two = pages.allocate(2 * os_pages::page_size(), 1);
    os_pages::populate(two.data, two.size);
    const bool can = pages.resident() == 2;
    pages.deallocate(two.data, two.size, 1);
    return can;
  }

  // Pages of the newest block that are in memory.
  [[nodiscard]] std::size_t resident() const {
    std::vector<unsigned char> pages(out_.back().size / os_pages::page_size());
    EXPECT_EQ(::mincore(out_.back().data, out_.back().size, pages.data()), 0);
    std::size_t found = 0;
    for (const unsigned char page : pages) found += page & 1u;
    return found;
  }

  bool are_fresh = true;

 private:
  os_pages pages_;
  std::vector<block> out_;
};

}  // namespace mallard
