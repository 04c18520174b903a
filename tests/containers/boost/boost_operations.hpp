// counted_operations<Heap>: what containers really do with a heap that can do everything.
//
//     container --> v2_allocator --> counted_operations: allocations 1, forward 23, ... --> Heap
#pragma once

#include <cstddef>
#include <ostream>

#include "mallard/core/block.hpp"
#include "mallard/core/chain.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/resize.hpp"

namespace mallard::containers {

struct operations {
  int allocations = 0;  // new blocks, one at a time: by allocate, or because a block could not grow in place
  int deallocations = 0;
  int forward = 0;   // expansions that kept the begin of the block
  int backward = 0;  // expansions that moved it
  int shrinks = 0;   // that made a block smaller
  int bursts = 0;
  std::size_t in_bursts = 0;  // blocks allocated in them
  int burst_ends = 0;
  std::size_t ended_in_bursts = 0;

  friend bool operator==(const operations&, const operations&) = default;
  friend void PrintTo(const operations& o, std::ostream* out) {
    *out << "allocations " << o.allocations << ", deallocations " << o.deallocations << ", forward "
         << o.forward << ", backward " << o.backward << ", shrinks " << o.shrinks << ", bursts " << o.bursts
         << " of " << o.in_bursts << ", ends " << o.burst_ends << " of " << o.ended_in_bursts;
  }
};

template <class Heap>
  requires resizable<Heap> && measurable<Heap> && burst<Heap>
class counted_operations {
 public:
  operations done;

  [[nodiscard]] Heap& upstream() noexcept { return heap_; }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align) noexcept {
    ++done.allocations;
    return heap_.allocate(size, align);
  }

  void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    ++done.deallocations;
    heap_.deallocate(p, size, align);
  }

  static constexpr resize_way ways = Heap::ways;

  [[nodiscard]] resize_result resize(const resize_request& request) noexcept {
    const std::size_t before = heap_.usable_size(request.data);
    const resize_result result = heap_.resize(request);
    if (!result.memory) return result;
    if (!result.reused)
      ++done.allocations;
    else if (result.memory.data != request.data)
      ++done.backward;
    else if (result.memory.size > before)
      ++done.forward;
    else if (result.memory.size < before)
      ++done.shrinks;
    return result;
  }

  [[nodiscard]] std::size_t usable_size(const void* p) const noexcept { return heap_.usable_size(p); }

  [[nodiscard]] bool allocate_burst(chain& out, std::size_t count, std::size_t size, std::size_t align,
                                    std::size_t contiguous) noexcept {
    ++done.bursts;
    done.in_bursts += count;
    return heap_.allocate_burst(out, count, size, align, contiguous);
  }

  void deallocate_burst(chain& blocks, std::size_t size, std::size_t align) noexcept {
    ++done.burst_ends;
    done.ended_in_bursts += blocks.size();
    heap_.deallocate_burst(blocks, size, align);
  }

 private:
  Heap heap_;
};

}  // namespace mallard::containers
