// reap: a region and a heap in one: bumps a cursor, reuses single freed blocks, and ends as a whole.
//
//     parent   [tag| b ][tag| b ][tag| free ][tag| b ][tag| rest ......... ]   chunks from 8 KiB
//     child    [tag| b ][tag| b ][tag| b ]^ cursor ...................... ]    chunks of its own
//
// A best_fit that is clear_optimized and nested, with slabs:
//
//     nested             children end with their parent, or are cleared with it
//     clear_optimized    a cursor moves while nothing is free; a free turns to heap mode, a clear turns back
//     with_slabs         from 1 MiB on, small blocks of heap mode lie in slabs, and large ones wait by size
//     best_fit           tags, bins, joining; small chunks, growing with what is held
//
// It serves as a region (create, allocate, clear and destroy cost O(chunks) and O(blocks above 128 KiB),
// never O(blocks)), as a general heap (free by pointer, grow in place, bursts), and as both in turn. What it
// holds beyond live blocks is best_fit's, with steps of at most a 32nd of what is held, and with slabs what
// heap/reap/with_slabs.hpp says; an empty reap holds nothing upstream. Programs that pass sizes to
// deallocate, as containers do, can use sized_reap, which needs no tags. For several threads use
// `locked<reap>`, as a root without children. Cost: 7 instructions for a block of known size while bumping,
// otherwise fifteen more than best_fit; creating and ending an empty reap takes 41, a child 62 (./dev
// instructions), as heap mode writes nothing before the first free. Debug builds validate the heap where many
// blocks end. Not synchronised: a family of reaps counts as one heap. Seed 002, section 8 (Reap).
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/boundary_tag.hpp"
#include "mallard/core/chain.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/growth.hpp"
#include "mallard/core/resize.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/heap/best_fit.hpp"
#include "mallard/heap/reap/with_slabs.hpp"
#include "mallard/layer/nested.hpp"
#include "mallard/source/default_source.hpp"
#include "mallard/source/upstream_ref.hpp"

namespace mallard {

// clear_optimized<Heap>: a heap with boundary tags that bumps a cursor as long as nothing has been freed.
//
//     bumping      [tag| b ][tag| b ][tag| b ]^ cursor ............. limit ^ [least]     no list is looked at
//     heap mode    [tag| b ][tag| free ][tag| b ][tag| rest .................... ]       Heap does it all
//
// While nothing is free, blocks are carved from the rest of Heap's newest chunk by moving a cursor. Each
// block gets a tag, so it can be freed by its pointer and coalesced like any other. A free returns the rest
// to Heap, and the freed block serves the next request of its size. Bumping resumes with clear(), in the
// first kept chunk; with release(); and when free memory is of no use: each request served from the rest,
// with no free and no find in between, doubles the number of bytes that may be bumped without searching the
// lists, from 64 up to 4096. Switching back pays from 256 bytes on. Holes that nobody wants therefore do not
// slow the heap down, and a request that would have found one misses it for at most the rest of a run.
// Invariant: while bumping, cursor and limit lie in the rest, which is in no list of Heap's, and everything
// before the cursor is used; otherwise both are null. Every other member returns the rest first, even those
// that only inspect: therefore the underlying heap is mutable. Operations that end all blocks simply forget
// the rest. Bumping starts in the first chunk as Heap obtained it, with neither Heap's own structures nor the
// chunk's end written, so a short-lived heap touches no memory beyond its blocks. Cost: 7 instructions for a
// block of known size while bumping, about 15 more than Heap's in heap mode. Not synchronised. Seed 002,
// section 8.1 (ClearOptimizedHeap, whose flag only a deletion of the whole region resets).
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
    return allocate_slow(size, align);
  }

  MALLARD_INLINE void deallocate(void* p) noexcept {
    return_rest();
    run_ = 0;
    heap_.deallocate(p);
  }

  MALLARD_INLINE void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    return_rest();
    run_ = 0;
    heap_.deallocate(p, size, align);
  }

  [[nodiscard]] std::size_t usable_size(const void* p) const noexcept { return heap_.usable_size(p); }

  static constexpr resize_way ways = Heap::ways;

  [[nodiscard]] resize_result resize(const resize_request& request) noexcept {
    return_rest();
    return heap_.resize(request);
  }

  // --- many blocks ----------------------------------------------------------------------------

  [[nodiscard]] bool allocate_burst(chain& out, std::size_t count, std::size_t size, std::size_t align,
                                    std::size_t contiguous) noexcept {
    return_rest();
    return heap_.allocate_burst(out, count, size, align, contiguous);
  }

  [[nodiscard]] bool allocate_burst(chain& out, const std::size_t* lengths, std::size_t count,
                                    std::size_t unit, std::size_t align, std::size_t contiguous) noexcept {
    return_rest();
    return heap_.allocate_burst(out, lengths, count, unit, align, contiguous);
  }

  void deallocate_burst(chain& blocks) noexcept {
    return_rest();
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
    return_rest();
    return heap_.trim(keep);
  }

  [[nodiscard]] bool owns(const void* p) const noexcept { return heap_.owns(p); }

  [[nodiscard]] heap_usage usage() const noexcept {
    return_rest();
    return heap_.usage();
  }

  [[nodiscard]] violation validate() const noexcept {
    if (cursor_ != 0 && (limit_ > last_ || (limit_ != 0 && cursor_ > limit_)))
      return {"clear_optimized: the cursor is outside what is bumped"};
    return_rest();
    return heap_.validate();
  }

 private:
  // In bytes: the length of the first run after a free, the length from which bumping pays, and the longest
  // that a free block may wait.
  static constexpr std::size_t first_run = 64;
  static constexpr std::size_t least_run = 256;
  static constexpr std::size_t largest_run = 4096;
  static constexpr std::size_t endless = max_request / 4;

  static boundary_tag* tag_at(std::uintptr_t at) noexcept { return reinterpret_cast<boundary_tag*>(at); }

  // Allocates from the cursor; null if the run ends before.
  MALLARD_INLINE block bump(std::size_t whole) noexcept {
    const std::uintptr_t behind = cursor_ + whole;
    if (behind > limit_) [[unlikely]]
      return {};
    boundary_tag* const b = tag_at(cursor_);
    b->set_used(whole);
    cursor_ = behind;
    return {b->data(), whole - boundary_tag::overhead};
  }

  MALLARD_NOINLINE block allocate_slow(std::size_t size, std::size_t align) noexcept {
    if (run_ == endless && size <= Heap::largest && align <= boundary_tag::granule) {
      const std::size_t whole = boundary_tag::block_size(size);
      if (boundary_tag* const rest = heap_.take_first_chunk(whole + boundary_tag::least); rest != nullptr) {
        is_open_ = true;
        bump_from(rest);
        return bump(whole);
      }
    }
    return_rest();
    if (run_ != endless) heap_.begin_slabs();
    const block b = heap_.allocate(size, align);
    if (b) [[likely]]
      bump_behind(b.data);
    return b;
  }

  // Starts bumping if the block at `p` was carved from the rest and runs have become long enough.
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

  // After an operation that ends all blocks, only a validation looks at the rest again.
  MALLARD_INLINE void forget_rest() noexcept {
    if constexpr (MALLARD_CHECKS >= 2) return_rest();
    cursor_ = limit_ = 0;
    is_open_ = false;
  }

  // Returns the rest to Heap, if it is here.
  MALLARD_INLINE void return_rest() const noexcept {
    if (cursor_ != 0) give_rest_back();
  }

  MALLARD_NOINLINE void give_rest_back() const noexcept {
    if (std::exchange(is_open_, false)) heap_.close_first_chunk();
    heap_.put_rest(tag_at(cursor_), last_ + boundary_tag::least - cursor_);
    cursor_ = limit_ = 0;
  }

  mutable std::uintptr_t cursor_ = 0;
  mutable std::uintptr_t limit_ = 0;  // the end of the run, which no block may cross
  std::uintptr_t last_ = 0;           // the same for the rest, of which the least block must remain
  std::size_t run_ = endless;
  mutable bool is_open_ = false;  // whether the rest is of a first chunk that is not closed
  mutable Heap heap_;
};

// Small at first, as many regions are; then the newest chunk's unused part, half of it on average, is a 64th
// of what is held. 1 MiB at most, where requesting a chunk costs nothing beside its pages.
using reap_growth = proportional<8192, 32768, 32, 1048576>;

// Bytes that a heap holds before its small blocks lie in slabs: about what the second level of caches has,
// within which lists are as fast.
inline constexpr std::size_t reap_least_slabs = std::size_t{1} << 20;

template <heap Upstream = default_source, growth_policy Growth = reap_growth,
          std::size_t Largest = best_fit_largest, std::size_t LeastSlabs = reap_least_slabs>
using basic_reap = nested<
    clear_optimized<with_slabs<basic_best_fit<shared_upstream<Upstream>, Growth, Largest>, LeastSlabs>>>;

using reap = basic_reap<>;

template <>
inline constexpr std::string_view heap_name<reap> = "reap";

}  // namespace mallard
