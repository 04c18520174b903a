// block_sizes: how many blocks of each size a piece of work has made and not ended: what its heap is littered
// with.
//
// A memory resource that counts what passes through it to pages of its own, which it gives back at its end:
// the heap to be littered sees nothing of it. Blocks above 128 KiB are left out: most mallocs map each by
// itself, and there are no holes between mappings. Not for several threads.
#pragma once

#include <cstddef>
#include <memory_resource>
#include <vector>

#include "harness/litter.hpp"
#include "harness/mapping.hpp"
#include "mallard/resource/resource.hpp"
#include "mallard/source/os_pages.hpp"

namespace mallard::bench {

class block_sizes final : public std::pmr::memory_resource {
 public:
  static constexpr std::size_t largest = 128 * 1024;  // bytes

  block_sizes();

  // `count` more live blocks of `size` bytes.
  void add(std::size_t size, std::size_t count) noexcept;

  // As the litter takes it, from blocks alive at once. The plan points into this.
  [[nodiscard]] harness::litter_plan plan(std::size_t times) noexcept;

 private:
  void* do_allocate(std::size_t size, std::size_t align) override;
  void do_deallocate(void* p, std::size_t size, std::size_t align) override;
  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override;

  resource<os_pages> pages_;
  std::pmr::monotonic_buffer_resource blocks_;
  harness::scratch memory_;  // of the next two
  std::size_t* counts_;      // by size
  harness::size_weight* sizes_;
};

inline block_sizes::block_sizes()
    : blocks_(&pages_),
      memory_((largest + 1) * (sizeof(std::size_t) + sizeof(harness::size_weight)),
              harness::fill::at_first_touch),
      counts_(static_cast<std::size_t*>(memory_.data())),
      sizes_(reinterpret_cast<harness::size_weight*>(counts_ + largest + 1)) {}

inline void block_sizes::add(std::size_t size, std::size_t count) noexcept {
  if (size <= largest) counts_[size] += count;
}

inline harness::litter_plan block_sizes::plan(std::size_t times) noexcept {
  std::size_t different = 0;
  std::size_t live = 0;
  for (std::size_t size = 0; size <= largest; ++size) {
    if (counts_[size] == 0) continue;
    sizes_[different++] = {size, counts_[size]};
    live += counts_[size];
  }
  return {{sizes_, different}, live, times, 1};
}

inline void* block_sizes::do_allocate(std::size_t size, std::size_t align) {
  add(size, 1);
  return blocks_.allocate(size, align);
}

inline void block_sizes::do_deallocate(void* p, std::size_t size, std::size_t align) {
  if (size <= largest) --counts_[size];
  blocks_.deallocate(p, size, align);
}

inline bool block_sizes::do_is_equal(const std::pmr::memory_resource& other) const noexcept {
  return this == &other;
}

}  // namespace mallard::bench
