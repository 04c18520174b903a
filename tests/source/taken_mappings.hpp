// taken_mappings: a process at the kernel's limit of mappings (vm.max_map_count).
//
//     [ none | read | none | read | ... | none ........ ]      each of them a mapping, none touched
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <fstream>

#include "mallard/source/os_pages.hpp"

namespace mallard {

// While it lives all mappings that the kernel allows this process are taken, but about `left`.
class taken_mappings {
 public:
  explicit taken_mappings(std::size_t left) {
    std::size_t limit = 0;
    std::ifstream("/proc/sys/vm/max_map_count") >> limit;
    size_ = 2 * limit * os_pages::page_size();
    void* const all = ::mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) return;
    begin_ = static_cast<std::byte*>(all);
    // Every second page is a mapping, and so is each between them.
    std::size_t at = 0;
    while (at < size_ && ::mprotect(begin_ + at, os_pages::page_size(), PROT_READ) == 0)
      at += 2 * os_pages::page_size();
    const std::size_t back = left * os_pages::page_size();
    if (at > back) ::mprotect(begin_ + at - back, back, PROT_NONE);
  }
  taken_mappings(const taken_mappings&) = delete;
  taken_mappings& operator=(const taken_mappings&) = delete;
  ~taken_mappings() {
    if (begin_ != nullptr) ::munmap(begin_, size_);
  }

 private:
  std::byte* begin_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace mallard
