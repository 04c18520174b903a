// clear_optimized<Heap>: a heap of boundary tags that bumps as long as nothing has been freed.
//
//     bumping      [tag| b ][tag| b ][tag| b ]^ cursor ............. limit ^ [least]     no list is looked at
//     heap mode    [tag| b ][tag| free ][tag| b ][tag| rest .................... ]       Heap does it all
//
// While nothing is free, the rest of Heap's newest chunk is carved by moving a cursor: a tag is written for
// each block, so that it can be freed by its pointer and joined like any other. A free gives the rest back to
// Heap, and what was freed serves the next request of its size. Bumping begins again with clear(), in the
// first of the chunks that are kept, with release(), and where free memory is of no use: each request that
// had to be served from the rest, with neither a free nor a find since, doubles the run of bytes that may be
// bumped without a look at the lists, from 64 up to 4096; runs of 256 are worth the turn. So holes that
// nobody wants do not slow the heap down, and a request that would have found one misses it for the rest of
// one run at most. Invariant: bumping, cursor and limit lie in the rest, which is in no list of Heap's, and
// what is before the cursor is used; else both are null. Every other member gives the rest back first, also
// those that only look: hence the heap below is mutable. What ends all blocks just forgets the rest. A first
// chunk is bumped in as it comes from Heap, of which nothing else has been touched by then, nor the chunk's
// end: a heap that lives shortly touches no more memory than its blocks. Cost: 7
// instructions for a block of known size while bumping, and about 10 more than Heap's in heap mode. Not
// synchronised. Seed 002, section 8.1 (ClearOptimizedHeap, whose flag only a deletion of the whole region
// resets).
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/boundary_tag.hpp"
#include "mallard/core/chain.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/resize.hpp"
#include "mallard/core/usage.hpp"

namespace mallard {

// Heap: as basic_best_fit, which lends the rest of its newest chunk.
template <layered Heap>
  requires freeable<Heap> && resizable<Heap> && burst_of_sizes<Heap> && clearable<Heap> && inspectable<Heap>
class clear_optimized {
 public:
  using upstream_type = typename Heap::upstream_type;

  template <class... Args>
    requires std::constructible_from<Heap, Args...>
  explicit clear_optimized(Args&&... args) : heap_(std::forward<Args>(args)...) {}
  clear_optimized(const clear_optimized&) = delete;
  clear_optimized& operator=(const clear_optimized&) = delete;
  ~clear_optimized() { forget_rest(); }

  [[nodiscard]] upstream_type& upstream() noexcept { return heap_.upstream(); }
  [[nodiscard]] const upstream_type& upstream() const noexcept { return heap_.upstream(); }

  // --- one block ------------------------------------------------------------------------------

  [[nodiscard]] MALLARD_INLINE block allocate(std::size_t size, std::size_t align) noexcept {
    if (size <= Heap::largest && align <= boundary_tag::granule) [[likely]] {
      if (const block b = bump(boundary_tag::block_size(size))) [[likely]]
        return b;
    }
    if (const block b = heap_.allocate_recent(size, align)) return b;
    return allocate_other(size, align);
  }

  MALLARD_INLINE void deallocate(void* p) noexcept {
    settle();
    run_ = 0;
    heap_.deallocate(p);
  }

  MALLARD_INLINE void deallocate(void* p, std::size_t, std::size_t) noexcept { deallocate(p); }

  [[nodiscard]] std::size_t usable_size(const void* p) const noexcept { return heap_.usable_size(p); }

  static constexpr resize_way ways = Heap::ways;

  [[nodiscard]] resize_result resize(const resize_request& request) noexcept {
    settle();
    return heap_.resize(request);
  }

  // --- many blocks ----------------------------------------------------------------------------

  [[nodiscard]] bool allocate_burst(chain& out, std::size_t count, std::size_t size, std::size_t align,
                                    std::size_t contiguous) noexcept {
    settle();
    return heap_.allocate_burst(out, count, size, align, contiguous);
  }

  [[nodiscard]] bool allocate_burst(chain& out, const std::size_t* lengths, std::size_t count,
                                    std::size_t unit, std::size_t align, std::size_t contiguous) noexcept {
    settle();
    return heap_.allocate_burst(out, lengths, count, unit, align, contiguous);
  }

  void deallocate_burst(chain& blocks) noexcept {
    settle();
    run_ = 0;
    heap_.deallocate_burst(blocks);
  }

  void deallocate_burst(chain& blocks, std::size_t, std::size_t) noexcept { deallocate_burst(blocks); }

  // --- the whole heap -------------------------------------------------------------------------

  void clear() noexcept {
    forget_rest();
    heap_.clear();
    run_ = endless;
    if (boundary_tag* const rest = heap_.take_rest(); rest != nullptr) bump_from(rest);
  }

  void release() noexcept {
    forget_rest();
    heap_.release();
    run_ = endless;
  }

  std::size_t trim(std::size_t keep) noexcept {
    settle();
    return heap_.trim(keep);
  }

  [[nodiscard]] bool owns(const void* p) const noexcept { return heap_.owns(p); }

  [[nodiscard]] heap_usage usage() const noexcept {
    settle();
    return heap_.usage();
  }

  [[nodiscard]] violation validate() const noexcept {
    if (cursor_ != 0 && (limit_ > last_ || (limit_ != 0 && cursor_ > limit_)))
      return {"clear_optimized: the cursor is outside what is bumped"};
    settle();
    return heap_.validate();
  }

 private:
  // What the run begins with after a free, what it is worth to bump, and what a free block may wait for at
  // most; in bytes.
  static constexpr std::size_t first_run = 64;
  static constexpr std::size_t least_run = 256;
  static constexpr std::size_t largest_run = 4096;
  static constexpr std::size_t endless = max_request / 4;

  static boundary_tag* tag_at(std::uintptr_t at) noexcept { return reinterpret_cast<boundary_tag*>(at); }

  // From the cursor; null where the run ends before.
  MALLARD_INLINE block bump(std::size_t whole) noexcept {
    const std::uintptr_t behind = cursor_ + whole;
    if (behind > limit_) [[unlikely]]
      return {};
    boundary_tag* const b = tag_at(cursor_);
    b->set_used(whole);
    cursor_ = behind;
    return {b->data(), whole - boundary_tag::overhead};
  }

  MALLARD_NOINLINE block allocate_other(std::size_t size, std::size_t align) noexcept {
    if (run_ == endless && size <= Heap::largest && align <= boundary_tag::granule) {
      const std::size_t whole = boundary_tag::block_size(size);
      if (boundary_tag* const rest = heap_.take_first_chunk(whole + boundary_tag::least); rest != nullptr) {
        is_open_ = true;
        bump_from(rest);
        return bump(whole);
      }
    }
    settle();
    const block b = heap_.allocate(size, align);
    if (b) [[likely]]
      bump_behind(b.data);
    return b;
  }

  // Bumps from here on if the block at `p` was carved from the rest, and runs have become long enough.
  MALLARD_INLINE void bump_behind(void* p) noexcept {
    boundary_tag* const rest = heap_.take_rest_behind(p);
    if (rest == nullptr) {
      if (run_ != endless) run_ = 0;
      return;
    }
    if (run_ != endless) run_ = std::min(largest_run, 2 * run_ + first_run);
    if (run_ < least_run) return heap_.put_rest(rest, rest->size());
    bump_from(rest);
  }

  MALLARD_INLINE void bump_from(boundary_tag* rest) noexcept {
    cursor_ = address_of(rest);
    last_ = cursor_ + rest->size() - boundary_tag::least;
    limit_ = std::min(last_, cursor_ + run_);
  }

  // Where all blocks end, nobody but a validation looks at the rest again.
  MALLARD_INLINE void forget_rest() noexcept {
    if constexpr (MALLARD_CHECKS != 0) settle();
    cursor_ = limit_ = 0;
    is_open_ = false;
  }

  // Gives the rest back, if it is here.
  MALLARD_INLINE void settle() const noexcept {
    if (cursor_ != 0) give_rest_back();
  }

  MALLARD_NOINLINE void give_rest_back() const noexcept {
    if (std::exchange(is_open_, false)) heap_.close_first_chunk();
    heap_.put_rest(tag_at(cursor_), last_ + boundary_tag::least - cursor_);
    cursor_ = limit_ = 0;
  }

  mutable std::uintptr_t cursor_ = 0;
  mutable std::uintptr_t limit_ = 0;  // where a block may end at most: the end of the run
  std::uintptr_t last_ = 0;           // and of the rest, of which a block's least size must remain
  std::size_t run_ = endless;
  mutable bool is_open_ = false;  // whether the rest is of a first chunk that is not closed
  mutable Heap heap_;
};

}  // namespace mallard
