// coalesce<Upstream, Growth>: blocks of any size from chunks, split when allocated and merged when freed.
//
//     recent_blocks   b b b                    small ones that were freed a moment ago, not yet joined
//     joined_blocks   [ used ][ free ][ used ][ used ][ rest .. ]  [ free ............ ]
//     tagged_chunks   [ chunk ................................ ]  [ chunk, idle ...... ]   --> Upstream
//
// A request is carved from the best fitting free block. A freed block is merged with both neighbours; a small
// one waits until too many are waiting or memory is short. Blocks are identified by their tags, and sizes
// include the tag.
// A chunk that becomes free returns to the upstream if the idle memory would otherwise exceed all of these: a
// 64th of what is held, 64 KiB, and the first chunk size of the growth policy. Otherwise it is kept, so that
// alternating requests do not reach the upstream each time. Cost: O(1) for small blocks, O(log size) above 1
// KiB, beside the upstream's. Not synchronised. Seed 001, chapter 1.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/boundary_tag.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/growth.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/heap/best_fit/joined_blocks.hpp"
#include "mallard/heap/best_fit/recent_blocks.hpp"
#include "mallard/heap/best_fit/tagged_chunks.hpp"
#include "mallard/layer/address_ranges.hpp"

namespace mallard {

template <heap Upstream, growth_policy Growth>
class coalesce {
 public:
  using upstream_type = Upstream;

  template <class... Args>
    requires constructible_as_root<Upstream, Args...>
  explicit coalesce(Args&&... args) : chunks_(std::forward<Args>(args)...) {}
  coalesce(const coalesce&) = delete;
  coalesce& operator=(const coalesce&) = delete;

  [[nodiscard]] upstream_type& upstream() noexcept { return chunks_.upstream(); }
  [[nodiscard]] const upstream_type& upstream() const noexcept { return chunks_.upstream(); }

  // A recently freed block of `size` bytes, below free_blocks::small; null if there is none.
  [[nodiscard]] MALLARD_INLINE boundary_tag* take_recent(std::size_t size) noexcept {
    return recent_.take(size);
  }

  // A block of `size` bytes or one granule more; null when exhausted. Precondition: `size` is a block size.
  [[nodiscard]] boundary_tag* allocate(std::size_t size) noexcept {
    if (boundary_tag* const b = blocks_.carve(size); b != nullptr) return b;
    return allocate_more(size);
  }

  // The same with its data at a multiple of `align`. Memory in front of it and behind stays usable, and the
  // hole that such a block leaves is found for the next one. O(align) if many free blocks are badly aligned.
  [[nodiscard]] boundary_tag* allocate_aligned(std::size_t size, std::size_t align) noexcept {
    boundary_tag* found = find_aligned(size, align);
    if (found == nullptr && gather()) found = find_aligned(size, align);
    if (found == nullptr && add_chunk(size + align + boundary_tag::least)) {
      blocks_.retire_rest();
      found = find_aligned(size, align);
    }
    if (found == nullptr) return nullptr;
    return blocks_.carve_at(found, front_of(found, align), size);
  }

  // The block of a first chunk, of at least `size` bytes, which is used and in no list; null if there are
  // chunks already, or when exhausted. Precondition: as of allocate. Until close_first_chunk() only
  // operations that end all blocks, owns(), take_recent() and this may be called; the latter two return null.
  [[nodiscard]] boundary_tag* take_first_chunk(std::size_t size) noexcept {
    return chunks_.held() != 0 ? nullptr : chunks_.add_open(size);
  }

  // Precondition: its last block is used.
  void close_first_chunk() noexcept { chunks_.close(); }

  // Ends a block; precondition: it is small and has not grown (boundary_tag::is_plain_below).
  MALLARD_INLINE void give_plain(boundary_tag* b) noexcept {
    if (!recent_.put(b, b->size())) [[unlikely]]
      join_recent();
  }

  // Frees any block. One that is large or has grown is merged with the rest if adjacent to it, so that the
  // next one can grow there.
  void give(boundary_tag* b) noexcept {
    if (b->is_plain_below(free_blocks::small)) return give_plain(b);
    if (b->next() == blocks_.rest() || blocks_.follows_rest(b)) return give_to_rest(b);
    if (b->size() >= free_blocks::small) return give_large(b);
    b->forget_growth();
    give_plain(b);
  }

  // Frees a block merged from several. It does not wait for a request, as there will hardly be one of its
  // size, so that its chunk can return.
  void give_joined(boundary_tag* b) noexcept {
    if (b->next() == blocks_.rest() || blocks_.follows_rest(b)) return give_to_rest(b);
    join_now(b);
  }

  // Coalesces the block behind `b` if it was freed recently and is found at once; otherwise returns false.
  [[nodiscard]] bool join_recent_behind(boundary_tag* b) noexcept {
    boundary_tag* const behind = b->next();
    if (!behind->is_used() || !recent_.take_out(behind)) return false;
    join_now(behind);
    return true;
  }

  // Coalesces all recently freed blocks; false if there are none. Blocks freed in sequence are often
  // adjacent.
  MALLARD_NOINLINE bool join_recent() noexcept {
    if (recent_.empty()) return false;
    boundary_tag* joined = nullptr;
    recent_.take_all([&](boundary_tag* b) {
      boundary_tag* const both = joined == nullptr ? b : boundary_tag::merged(joined, b);
      if (both == nullptr) join_now(joined);
      joined = both == nullptr ? b : both;
    });
    join_now(joined);
    return true;
  }

  // Bytes of all chunks, and of free blocks without the rest and those freed a moment ago.
  [[nodiscard]] std::size_t held() const noexcept { return chunks_.held(); }
  [[nodiscard]] std::size_t free_bytes() const noexcept { return blocks_.bytes(); }

  // Whether a free block, or the rest, has room for `size` bytes at `align`. O(align) if many are badly
  // aligned.
  [[nodiscard]] bool has_room(std::size_t size, std::size_t align) noexcept {
    return blocks_.rest()->size() >= size + align + boundary_tag::least ||
           find_aligned(size, align) != nullptr;
  }

  // The blocks, to change them in place.
  [[nodiscard]] joined_blocks& blocks() noexcept { return blocks_; }

  // Ends all blocks; keeps all chunks. O(chunks).
  void clear() noexcept {
    recent_.clear();
    blocks_.clear();
    chunks_.make_all_whole([this](boundary_tag* all) { blocks_.put(all); });
  }

  // Ends all blocks and returns all chunks. O(chunks).
  void release() noexcept {
    recent_.clear();
    blocks_.clear();
    chunks_.release();
  }

  // Returns chunks without blocks until at most `keep` bytes of them are held; returns the number of bytes
  // returned. O(chunks).
  std::size_t trim(std::size_t keep) noexcept {
    const std::size_t before = chunks_.held();
    gather();
    std::size_t kept = 0;
    chunks_.each_first([&](boundary_tag* first) {
      if (first->is_used() || !first->is_whole_chunk()) return;
      const std::size_t size = chunks::size_of(first);
      if (size <= keep - kept) {
        kept += size;
      } else {
        blocks_.remove(first);
        chunks_.give_back(first);
      }
    });
    return before - chunks_.held();
  }

  [[nodiscard]] bool owns(const void* p) const noexcept { return chunks_.owns(p); }

  // The address ranges of all blocks, for a validation.
  [[nodiscard]] address_ranges chunk_ranges() const noexcept { return chunks_.block_ranges(); }

  // O(blocks).
  [[nodiscard]] heap_usage usage() const noexcept {
    heap_usage found = chunks_.usage();
    if (blocks_.rest()->size() != 0) {
      found.carved -= blocks_.rest()->size();
      found.granted -= blocks_.rest()->usable();
    }
    recent_.each([&](const boundary_tag* b, std::size_t size) {
      found.carved -= size;
      found.granted -= b->usable();
      return true;
    });
    return found;
  }

  // O(blocks log chunks), in the memory of address_ranges.
  [[nodiscard]] violation validate() const noexcept {
    std::size_t free_in_chunks = 0;
    if (violation v = chunks_.validate(free_in_chunks)) return v;
    const address_ranges inside = chunk_ranges();
    if (blocks_.rest()->size() != 0 && !inside.contains(blocks_.rest(), boundary_tag::granule))
      return {"coalesce: the rest lies outside the chunks"};
    violation found;
    const bool recent_is_whole = recent_.each([&](const boundary_tag* b, std::size_t size) {
      if (!inside.contains(b, boundary_tag::granule))
        found = {"coalesce: a block freed a moment ago lies outside the chunks"};
      else if (!b->is_used() || b->size() != size)
        found = {"coalesce: a block freed a moment ago has another tag"};
      return !found;
    });
    if (found) return found;
    if (!recent_is_whole) return {"coalesce: the blocks freed a moment ago do not add up"};
    std::size_t listed = 0;
    found = blocks_.validate([&](const boundary_tag* b) -> violation {
      if (!inside.contains(b, boundary_tag::granule))
        return {"coalesce: what is listed as free lies outside the chunks"};
      if (b->is_used()) return {"coalesce: a used block is listed as free"};
      if (listed++ == free_in_chunks) return {"coalesce: more is listed than is free: a circle"};
      return {};
    });
    if (found) return found;
    if (listed != free_in_chunks) return {"coalesce: a free block is not listed"};
    return {};
  }

 private:
  using chunks = tagged_chunks<Upstream, Growth, free_blocks::small>;

  // Bytes in front of a block at `align` in the free block at `b`: none, or enough for a block of their own.
  static std::size_t front_of(boundary_tag* b, std::size_t align) noexcept {
    const std::size_t padding = padding_for(b->data(), align);
    return padding == 0 || padding >= boundary_tag::least ? padding : padding + align;
  }

  // The smallest free block that has room for `size` bytes at `align`; of each size only the first is tried.
  boundary_tag* find_aligned(std::size_t size, std::size_t align) noexcept {
    boundary_tag* found = blocks_.at_least(size);
    while (found != nullptr && front_of(found, align) + size > found->size())
      found = blocks_.at_least(found->size() + boundary_tag::granule);
    return found;
  }

  MALLARD_INLINE void join_now(boundary_tag* b) noexcept {
    if (!blocks_.give_small(b)) give_large(b);
  }

  // Coalesces all free memory; false if it was coalesced already.
  bool gather() noexcept {
    const bool joined = join_recent();
    return blocks_.retire_rest() != nullptr || joined;
  }

  MALLARD_NOINLINE boundary_tag* allocate_more(std::size_t size) noexcept {
    boundary_tag* carved = gather() ? blocks_.carve(size) : nullptr;
    if (carved == nullptr && add_chunk(size)) carved = blocks_.carve(size);
    return carved;
  }

  // Adds a chunk, which becomes the rest; false when exhausted.
  bool add_chunk(std::size_t size) noexcept {
    boundary_tag* added = chunks_.add(size);
    if (added == nullptr && trim(0) != 0) added = chunks_.add(size);
    if (added == nullptr) return false;
    blocks_.adopt(added);
    return true;
  }

  // Whether this many idle bytes are enough to return a chunk to the upstream.
  [[nodiscard]] bool is_too_much(std::size_t idle) const noexcept {
    return idle > std::max({chunks_.held() / 64, std::size_t{64} << 10, Growth::next(0, 0)});
  }

  // Replacing the rest may leave the old one as a chunk without blocks.
  MALLARD_NOINLINE void give_large(boundary_tag* b) noexcept {
    boundary_tag* const joined = blocks_.join(b);
    if (joined->is_whole_chunk() && is_too_much(blocks_.idle() + joined->size()))
      return chunks_.give_back(joined);
    boundary_tag* const retired = blocks_.put(joined);
    if (retired != nullptr && retired->is_whole_chunk() && is_too_much(blocks_.idle())) {
      blocks_.remove(retired);
      chunks_.give_back(retired);
    }
  }

  void give_to_rest(boundary_tag* b) noexcept {
    blocks_.give_to_rest(b);
    if (blocks_.rest()->is_whole_chunk() && is_too_much(blocks_.idle() + blocks_.rest()->size()))
      chunks_.give_back(blocks_.take_rest());
  }

  chunks chunks_;  // first: beside the heap's own, what a short life touches is together
  recent_blocks recent_;
  joined_blocks blocks_;
};

}  // namespace mallard
