#include "common/block_sizes.hpp"

namespace mallard::bench {

block_sizes::block_sizes()
    : blocks_(&pages_),
      memory_((largest + 1) * (sizeof(std::size_t) + sizeof(harness::size_weight)),
              harness::fill::at_first_touch),
      counts_(static_cast<std::size_t*>(memory_.data())),
      sizes_(reinterpret_cast<harness::size_weight*>(counts_ + largest + 1)) {}

void block_sizes::add(std::size_t size, std::size_t count) noexcept {
  if (size <= largest) counts_[size] += count;
}

harness::litter_plan block_sizes::plan(std::size_t times) noexcept {
  std::size_t different = 0;
  std::size_t live = 0;
  for (std::size_t size = 0; size <= largest; ++size) {
    if (counts_[size] == 0) continue;
    sizes_[different++] = {size, counts_[size]};
    live += counts_[size];
  }
  return {{sizes_, different}, live, times, 1};
}

void* block_sizes::do_allocate(std::size_t size, std::size_t align) {
  add(size, 1);
  return blocks_.allocate(size, align);
}

void block_sizes::do_deallocate(void* p, std::size_t size, std::size_t align) {
  if (size <= largest) --counts_[size];
  blocks_.deallocate(p, size, align);
}

bool block_sizes::do_is_equal(const std::pmr::memory_resource& other) const noexcept {
  return this == &other;
}

}  // namespace mallard::bench
