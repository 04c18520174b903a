// runs: new blocks of one size, carved from stretches as they are needed.
//
//     newest --> [run header| b | b | b |..... untouched .....] --> [run header| b | b | b | b ] --> null
//                                        ^ cursor                       older runs are fully carved
//
// A run is a stretch of memory for blocks of one size, its header in front of the first block; blocks
// have none. Nothing is written behind the cursor, so memory that no block has reached stays untouched.
// Runs grow with what there is already, so that what is carved too early stays a small share.
// It is plain state: the blocks' size and alignment and where stretches come from are passed in.
// Invariant: the cursor lies in the newest run, at a multiple of the size from its first block.
// Cost: O(1). Seed 001, chapter 3 ("Simple segregated storage").
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/layer/bump.hpp"
#include "mallard/layer/slabs.hpp"

namespace mallard {

class runs {
 public:
  // A new block of `size` bytes at a multiple of `align`; null when `from` is exhausted.
  template <class Growth, class Slabs>
  [[nodiscard]] void* carve(Slabs& from, std::size_t size, std::size_t align) noexcept {
    if (fresh_.room() < size && !refill<Growth>(from, size, align)) return nullptr;
    std::byte* const carved = fresh_.cursor();
    fresh_.rewind(carved + size);
    return carved;
  }

  // Blocks carved so far.
  [[nodiscard]] std::size_t carved(std::size_t size) const noexcept {
    std::size_t blocks = 0;
    for (const run* r = newest_; r != nullptr; r = r->older) blocks += carved_bytes(r) / size;
    return blocks;
  }

  // Whether a carved block begins at `p`.
  [[nodiscard]] bool is_block(const void* p, std::size_t size) const noexcept {
    for (const run* r = newest_; r != nullptr; r = r->older) {
      const std::size_t offset = address_of(p) - address_of(r->begin());
      if (offset < carved_bytes(r)) return offset % size == 0;
    }
    return false;
  }

  template <class Slabs>
  [[nodiscard]] fault validate(const Slabs& from, std::size_t size, std::size_t align) const noexcept {
    std::size_t total = newest_ == nullptr ? 0 : newest_->total;
    for (const run* r = newest_; r != nullptr; r = r->older) {
      const auto bytes = static_cast<std::size_t>(r->end - r->begin());
      if (!from.owns(r) || !from.owns(r->end - 1)) return {"runs: a run lies outside the chunks"};
      if (!is_aligned(r->begin(), align)) return {"runs: a run is misaligned for its blocks"};
      if (r->begin() >= r->end || bytes % size != 0) return {"runs: a run is no whole number of blocks"};
      if (r->total != total || bytes > total) return {"runs: the runs do not add up"};
      total -= bytes;
    }
    if (total != 0) return {"runs: a run is missing"};
    if (newest_ != nullptr && (fresh_.cursor() < newest_->begin() || fresh_.end() != newest_->end))
      return {"runs: the cursor is outside the newest run"};
    return {};
  }

 private:
  // What stands directly in front of a run's first block.
  struct run {
    run* older;
    std::byte* end;
    std::size_t total;  // bytes of blocks in this run and all older ones

    [[nodiscard]] std::byte* begin() const noexcept {
      return const_cast<std::byte*>(reinterpret_cast<const std::byte*>(this + 1));
    }
  };

  template <class Growth, class Slabs>
  MALLARD_NOINLINE bool refill(Slabs& from, std::size_t size, std::size_t align) noexcept {
    const std::size_t total = newest_ == nullptr ? 0 : newest_->total;
    const std::size_t newest = newest_ == nullptr ? 0 : carved_bytes(newest_);
    const std::size_t wished = std::max<std::size_t>(Growth::next(newest, total) / size, 1);
    const stretch room = from.cut(sizeof(run), align, size, wished);
    if (room.begin == nullptr) return false;
    const auto bytes = static_cast<std::size_t>(room.end - room.begin);
    newest_ = ::new (room.begin - sizeof(run)) run{newest_, room.end, total + bytes};
    fresh_ = {room.begin, room.end};
    return true;
  }

  [[nodiscard]] std::size_t carved_bytes(const run* r) const noexcept {
    return static_cast<std::size_t>((r == newest_ ? fresh_.cursor() : r->end) - r->begin());
  }

  bump fresh_;
  run* newest_ = nullptr;
};

}  // namespace mallard
