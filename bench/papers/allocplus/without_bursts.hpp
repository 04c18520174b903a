// without_bursts<Heap>: a heap that allocates one block at a time: what bursts are compared with.
//
// Bursts of an allocator over it are loops of single requests. Cost: the heap's.
#pragma once

#include <cstddef>

#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/concepts.hpp"

namespace mallard::bench {

template <heap Heap>
class without_bursts {
 public:
  [[nodiscard]] MALLARD_INLINE block allocate(std::size_t size, std::size_t align) noexcept {
    return heap_.allocate(size, align);
  }
  MALLARD_INLINE void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    heap_.deallocate(p, size, align);
  }

 private:
  Heap heap_;
};

}  // namespace mallard::bench
