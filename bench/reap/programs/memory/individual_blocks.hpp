// individual_blocks: no region at all, but malloc and a free for each block.
//
//     the program's own walks over what it has built free every block; a region is no more than a name
//
// What a program would be had nobody thought of regions: the end of a scope or of a pass frees its objects
// one by one. A block that no walk reaches is leaked, which AddressSanitizer tells in the tests.
// Cost: malloc's. Seed 002, section 6.2 (individual frees beside regions).
#pragma once

#include <cstddef>
#include <cstdlib>

#include "programs/memory/heap_region.hpp"

namespace mallard::programs {

class individual_blocks {
 public:
  static constexpr bool frees = true;
  static constexpr bool is_over_malloc = true;

  individual_blocks() = default;
  explicit individual_blocks(individual_blocks&) noexcept {}
  individual_blocks(const individual_blocks&) = delete;
  individual_blocks& operator=(const individual_blocks&) = delete;

  // `align` is at most malloc's own, which suits every type of the programs.
  [[nodiscard]] void* allocate(std::size_t size, std::size_t) noexcept {
    void* const p = std::malloc(size);
    if (p == nullptr) [[unlikely]]
      end_without_memory();
    return p;
  }

  void free(void* p, std::size_t, std::size_t) noexcept { std::free(p); }
  void clear() noexcept {}
};

}  // namespace mallard::programs
