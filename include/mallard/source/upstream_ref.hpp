// upstream_ref<Heap>: a heap by reference, so that several heaps share one upstream.
//
//     heap A: upstream_ref --+
//                            +--> one Heap, owned elsewhere
//     heap B: upstream_ref --+
//
// It forwards blocks only. Only the owner ends all blocks at once: an upstream_ref is never `releasable`, so
// releasing A cannot take B's blocks along. The heap must outlive its references.
#pragma once

#include <cstddef>

#include "mallard/core/block.hpp"
#include "mallard/core/concepts.hpp"

namespace mallard {

template <heap Heap>
class upstream_ref {
 public:
  using upstream_type = Heap;

  explicit upstream_ref(Heap& referred) noexcept : heap_(&referred) {}
  upstream_ref(const upstream_ref&) = delete;
  upstream_ref& operator=(const upstream_ref&) = delete;

  [[nodiscard]] upstream_type& upstream() noexcept { return *heap_; }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align) noexcept {
    return heap_->allocate(size, align);
  }

  void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    heap_->deallocate(p, size, align);
  }

  void return_to_system(void* p, std::size_t size, std::size_t align) noexcept
    requires caching<Heap>
  {
    heap_->return_to_system(p, size, align);
  }

  [[nodiscard]] bool owns(const void* p) const noexcept
    requires owning<Heap>
  {
    return heap_->owns(p);
  }

  [[nodiscard]] std::size_t received_size(std::size_t size, std::size_t align) const noexcept
    requires predictable<Heap>
  {
    return heap_->received_size(size, align);
  }

 private:
  Heap* heap_;
};

}  // namespace mallard
