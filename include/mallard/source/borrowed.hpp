// borrowed<Heap>: a heap by reference, so that several heaps share one upstream.
//
//     heap A: borrowed --+
//                        +--> one Heap, owned elsewhere
//     heap B: borrowed --+
//
// It forwards blocks only. Ending blocks all at once stays with the owner: a borrowed heap is never
// `releasable`, so the release of A cannot take B's blocks along. The heap must outlive the borrower.
#pragma once

#include <cstddef>

#include "mallard/core/block.hpp"
#include "mallard/core/concepts.hpp"

namespace mallard {

template <heap Heap>
class borrowed {
 public:
  using upstream_type = Heap;

  explicit borrowed(Heap& lent) noexcept : lent_(&lent) {}
  borrowed(const borrowed&) = delete;
  borrowed& operator=(const borrowed&) = delete;

  [[nodiscard]] upstream_type& upstream() noexcept { return *lent_; }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align) noexcept {
    return lent_->allocate(size, align);
  }

  void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    lent_->deallocate(p, size, align);
  }

  void return_to_system(void* p, std::size_t size, std::size_t align) noexcept
    requires caching<Heap>
  {
    lent_->return_to_system(p, size, align);
  }

  [[nodiscard]] bool owns(const void* p) const noexcept
    requires owning<Heap>
  {
    return lent_->owns(p);
  }

  [[nodiscard]] std::size_t received_size(std::size_t size, std::size_t align) const noexcept
    requires predictable<Heap>
  {
    return lent_->received_size(size, align);
  }

 private:
  Heap* lent_;
};

}  // namespace mallard
