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

}  // namespace mallard::bench
