// owned_segments: a segment_heap of one thread, whose blocks any other thread may free without a lock.
//
//     owner   -- allocate, free, measure ... --> segment_heap <-- free: one compare-and-swap --   other
//     threads
//                                                     |
//                                     segments of the process, for all such heaps
//
// The owner is recognised by its thread pointer, which costs a load. What others have freed waits in the heap
// until its owner finds no free block at hand, allocates a large one, or measures it. A large block goes back
// to the segments from the thread that frees it. Behind a lock there is no owner: clearable_segments is the
// heap for that.
#pragma once

#include <atomic>
#include <cstddef>

#include "mallard/core/block.hpp"
#include "mallard/core/resize.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/heap/segment_heap.hpp"

namespace mallard::capi {

// What mallard.h asks of a heap in the terms of segments: cleared, it keeps none.
class clearable_segments {
 public:
  [[nodiscard]] block allocate(std::size_t size, std::size_t align) noexcept {
    return heap_.allocate(size, align);
  }
  void deallocate(void* p) noexcept { heap_.deallocate(p); }
  void deallocate(void* p, std::size_t, std::size_t) noexcept { heap_.deallocate(p); }
  // By a thread that is none of those that the heap's calls are serialised for.
  void receive(void* p) noexcept { heap_.receive(p); }

  static constexpr resize_way ways = segment_heap::ways;
  [[nodiscard]] resize_result resize(const resize_request& request) noexcept { return heap_.resize(request); }
  [[nodiscard]] std::size_t usable_size(const void* p) const noexcept { return heap_.usable_size(p); }

  void clear() noexcept { heap_.release(); }
  std::size_t trim(std::size_t keep) noexcept { return heap_.trim(keep); }

  // What has been freed is free, wherever it waits.
  [[nodiscard]] heap_usage usage() const noexcept {
    heap_.collect();
    return heap_.usage();
  }
  [[nodiscard]] violation validate() const noexcept { return heap_.validate(); }

 private:
  mutable segment_heap heap_;
};

class owned_segments : public clearable_segments {
 public:
  void deallocate(void* p) noexcept {
    if (is_owner()) return clearable_segments::deallocate(p);
    receive(p);
  }
  void deallocate(void* p, std::size_t, std::size_t) noexcept { deallocate(p); }

  // The calling thread is the owner from now on.
  void adopt() noexcept { owner_.store(__builtin_thread_pointer(), std::memory_order_relaxed); }

 private:
  [[nodiscard]] bool is_owner() const noexcept {
    return owner_.load(std::memory_order_relaxed) == __builtin_thread_pointer();
  }

  std::atomic<void*> owner_ = __builtin_thread_pointer();  // of those who ask, only it can find itself
};

}  // namespace mallard::capi
