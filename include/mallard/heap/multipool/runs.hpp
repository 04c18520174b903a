// runs: new blocks of one size, carved on demand from spans of shared chunks.
//
//     newest --> [run header| b | b | b |..... untouched .....] --> [run header| b | b | b | b ] --> null
//                                        ^ cursor, in the header      older runs are fully carved
//
// A run is a span of memory for blocks of one size, with its header in front of the first block; blocks have
// no headers. Blocks are carved up to a KiB at a time, so most cost no more than reusing a freed one. Nothing
// behind the cursor is written, so memory that no block has reached stays untouched. Runs grow with the
// memory already carved, so memory carved too early remains a small share.
// Plain state, one pointer, so a heap with many sizes is cheap to create and destroy. The caller passes the
// blocks' size and alignment and the source of the spans.
// Invariant: a run's cursor lies in the run, at a multiple of the size from its first block. Cost: O(1);
// validation is O(runs log runs). Large blocks are carved one at a time: `singles`, at the end. Seed 001,
// chapter 3
// ("Simple segregated storage").
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/chain.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/layer/address_ranges.hpp"
#include "mallard/layer/bump.hpp"
#include "mallard/layer/shared_chunks.hpp"

namespace mallard {

class runs {
 public:
  // Bytes of blocks that are carved at once, at most: as many as the run has already, or four blocks. It
  // spreads the cost of a call over them, and blocks written before they are requested stay in the
  // first-level cache.
  static constexpr std::size_t batch_bytes = 1024;

  // A new block of `size` bytes at a multiple of `align`; null when `from` is exhausted. The following
  // blocks, as many as a batch and the run have room for, are carved into `freed`, which is empty, lowest
  // first.
  template <class Growth, class Chunks, class FreeList>
  [[nodiscard]] void* carve(Chunks& from, std::size_t size, std::size_t align, FreeList& freed) noexcept {
    MALLARD_CHECK(freed.empty());
    if (room() < size && !refill<Growth>(from, size, align)) return nullptr;
    std::byte* const first = newest_->take(size);
    const std::size_t batch = std::min(std::max(newest_->carved(), 4 * size), batch_bytes);
    if (2 * size <= batch) freed = newest_->template take_chain<FreeList>(size, batch - size);
    return first;
  }

  // Undoes the carving of the last batch's free blocks, if `freed` contains nothing else, so that adjacent
  // blocks can start there. O(batch).
  template <class FreeList>
  void uncarve(std::size_t size, FreeList& freed) noexcept {
    auto* const first = static_cast<std::byte*>(freed.top());
    if (first == nullptr || size > batch_bytes) return;
    const std::byte* last = first;
    for (std::size_t left = batch_bytes / size; left != 0 && FreeList::next(last) == last + size; --left)
      last += size;
    if (FreeList::next(last) != nullptr || last + size != newest_->fresh.cursor()) return;
    newest_->fresh.rewind(first);
    freed = {};
  }

  // `count` adjacent new blocks, or null with nothing changed. If the newest run has too little room for
  // them, its remainder is carved into `freed`.
  template <class Growth, class Chunks, class FreeList>
  [[nodiscard]] std::byte* carve_adjacent(Chunks& from, std::size_t size, std::size_t align,
                                          std::size_t count, FreeList& freed) noexcept {
    if (room() / size < count) {
      run* const older = newest_;
      if (!refill<Growth>(from, size, align, count)) return nullptr;
      while (older != nullptr && older->fresh.room() != 0) freed.push(older->take(size));
    }
    return newest_->take(count * size);
  }

  // Blocks carved so far: all of older runs. O(1).
  [[nodiscard]] std::size_t carved(std::size_t size) const noexcept {
    return newest_ == nullptr ? 0 : (newest_->total - newest_->fresh.room()) / size;
  }

  // Calls `f` with the start and the size of each run, header included.
  template <class F>
  void for_each(F f) const noexcept {
    for (const run* r = newest_; r != nullptr; r = r->older)
      f(static_cast<const void*>(r),
        static_cast<std::size_t>(r->fresh.end() - reinterpret_cast<const std::byte*>(r)));
  }

  // The address ranges of the carved blocks, each run's from its first block on, for a validation.
  [[nodiscard]] address_ranges carved_ranges() const noexcept {
    return address_ranges([this](auto f) {
      for (const run* r = newest_; r != nullptr; r = r->older) f(r->begin(), r->carved());
    });
  }

  // `chunks`: the source of the spans.
  [[nodiscard]] violation validate(const address_ranges& chunks, std::size_t size,
                                   std::size_t align) const noexcept {
    std::size_t total = newest_ == nullptr ? 0 : newest_->total;
    for (const run* r = newest_; r != nullptr; r = r->older) {
      if (!chunks.contains(r) || !chunks.contains(r->fresh.end() - 1))
        return {"runs: a run lies outside the chunks"};
      if (!is_aligned(r->begin(), align)) return {"runs: a run is misaligned for its blocks"};
      const std::size_t bytes = r->carved() + r->fresh.room();
      if (r->begin() >= r->fresh.end() || bytes % size != 0)
        return {"runs: a run is no whole number of blocks"};
      if (r->carved() > bytes) return {"runs: a cursor is outside its run"};
      if (r != newest_ && r->fresh.room() != 0) return {"runs: an older run was not carved to its end"};
      if (r->total != total || bytes > total) return {"runs: the runs do not add up"};
      total -= bytes;
    }
    if (total != 0) return {"runs: a run is missing"};
    return {};
  }

 private:
  // The header directly in front of a run's first block.
  struct run {
    run* older;
    std::size_t total;  // bytes of blocks in this run and all older ones
    bump fresh;         // what no block has reached

    [[nodiscard]] std::byte* begin() const noexcept {
      return const_cast<std::byte*>(reinterpret_cast<const std::byte*>(this + 1));
    }
    [[nodiscard]] std::size_t carved() const noexcept {
      return static_cast<std::size_t>(fresh.cursor() - begin());
    }
    std::byte* take(std::size_t bytes) noexcept {
      std::byte* const taken = fresh.cursor();
      fresh.rewind(taken + bytes);
      return taken;
    }
    // Carves as many blocks as fit into `bytes`, or into the rest of the run, linked in ascending order.
    template <class FreeList>
    FreeList take_chain(std::size_t size, std::size_t bytes) noexcept {
      std::byte* const first = fresh.cursor();
      std::byte* const end = first + std::min(bytes, fresh.room());
      if (first + size > end) return {};
      std::byte* last = first;
      for (std::byte* next = first + size; next + size <= end; next += size) {
        ::new (last) chain::node{reinterpret_cast<chain::node*>(next)};
        last = next;
      }
      fresh.rewind(last + size);
      auto* const end_of_chain = ::new (last) chain::node{nullptr};
      return FreeList(reinterpret_cast<chain::node*>(first), end_of_chain);
    }
  };

  [[nodiscard]] std::size_t room() const noexcept { return newest_ == nullptr ? 0 : newest_->fresh.room(); }

  template <class Growth, class Chunks>
  MALLARD_NOINLINE bool refill(Chunks& from, std::size_t size, std::size_t align,
                               std::size_t least = 1) noexcept {
    const std::size_t total = newest_ == nullptr ? 0 : newest_->total;
    const std::size_t newest = newest_ == nullptr ? 0 : newest_->carved();
    const std::size_t wished = std::max(Growth::next(newest, total) / size, least);
    const span room = from.cut(sizeof(run), align, size, wished, least);
    if (room.begin == nullptr) return false;
    const auto bytes = static_cast<std::size_t>(room.end - room.begin);
    newest_ = ::new (room.begin - sizeof(run)) run{newest_, total + bytes, {room.begin, room.end}};
    return true;
  }

  run* newest_ = nullptr;
};

// singles: new blocks of one size, cut one at a time from the memory that all sizes share.
//
//     chunk  [576][run of 48s][144][992][144][640].... untouched ....
//                                                 ^ cursor
//
// Consecutive blocks follow each other in memory whatever their sizes, as in a monotonic: a page is filled
// before the next one is touched, so the processor prefetches what will be written next. No block is carved
// before it is requested, and none has a header. For blocks so large that few of them would fit into a batch;
// smaller ones use `runs`.
// Only the number of blocks is recorded, not their places. A block freed with the wrong size is therefore
// detected only when two blocks overlap, or when more blocks of a size are freed than exist. Plain state, one
// number: the caller passes size, alignment and source. Cost: O(1), a dozen instructions. Seed 001, chapter 3
// ("Simple segregated storage").
class singles {
 public:
  // Size of the smallest block that is cut singly: two cache lines, so that a block shares lines with
  // neighbours of other sizes only at its ends.
  static constexpr std::size_t least = 128;

  // A new block of `size` bytes at a multiple of `align` behind the last one of any size; null if it does not
  // fit there.
  template <class Chunks>
  [[nodiscard]] MALLARD_INLINE void* carve(Chunks& from, std::size_t size, std::size_t align) noexcept {
    void* const taken = from.take(size, align);
    carved_ += static_cast<std::size_t>(taken != nullptr);
    return taken;
  }

  // The same from any place; null when `from` is exhausted.
  template <class Chunks>
  [[nodiscard]] void* carve_slow(Chunks& from, std::size_t size, std::size_t align) noexcept {
    void* const taken = from.take_slow(size, align);
    carved_ += static_cast<std::size_t>(taken != nullptr);
    return taken;
  }

  // `count` new blocks that follow each other, or null with nothing changed.
  template <class Chunks>
  [[nodiscard]] std::byte* carve_adjacent(Chunks& from, std::size_t size, std::size_t align,
                                          std::size_t count) noexcept {
    std::byte* const taken = from.cut(0, align, size, count, count).begin;
    if (taken != nullptr) carved_ += count;
    return taken;
  }

  // Blocks carved so far.
  [[nodiscard]] std::size_t carved() const noexcept { return carved_; }

 private:
  std::size_t carved_ = 0;
};

}  // namespace mallard
