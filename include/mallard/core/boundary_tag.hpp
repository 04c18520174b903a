// boundary_tag: the word in front of each block of a heap that coalesces free neighbours.
//
//     [tag| used .......... ][tag| free  next prev ....... footer][tag| used ....]
//      ^ size | own and the previous block's state           ^ size, while the block is free
//
// The word holds the block's size including the tag, a multiple of 16, and four flags in the low bits: this
// block is used, the previous block is used, this tag ends a chunk, this block has grown in place. A free
// block repeats its size in its last word, so both neighbours are found in O(1), and a used block costs only
// its tag of 8 bytes.
// Invariants: the data of a block is aligned to `granule`; two free blocks are never neighbours, so a used
// block precedes every free one; `previous_used` agrees with the previous tag. Where used blocks lie beside
// blocks of another heap, the word in front of the latter has both used flags clear.
// Threads: the owner of a block may read its tag by seen() while other threads, holding the heap's lock,
// change its `previous_used` flag. Every other access needs the lock.
// Cost: a load and a mask each. Seed 001, chapter 1 (the tag of 4 or 8 bytes of DLmalloc's blocks).
#pragma once

#include <atomic>
#include <cstddef>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"

namespace mallard {

class boundary_tag {
 public:
  // Block sizes, and the start of their data, are multiples of this many bytes.
  static constexpr std::size_t granule = 2 * sizeof(std::size_t);
  static_assert(granule >= default_align);

  // Bytes of a block that its user cannot use.
  static constexpr std::size_t overhead = sizeof(std::size_t);

  // Bytes of the smallest block: free, it holds its tag, two links and its footer.
  static constexpr std::size_t least = 2 * granule;

  // Size of a block for a request of `size` bytes; precondition: no overflow.
  [[nodiscard]] static constexpr std::size_t block_size(std::size_t size) noexcept {
    return align_up((size > least - overhead ? size : least - overhead) + overhead, granule);
  }

  // Whether taking `taken` of `whole` bytes leaves either nothing or enough for a block.
  [[nodiscard]] static constexpr bool can_take(std::size_t taken, std::size_t whole) noexcept {
    return taken == whole || (taken < whole && whole - taken >= least);
  }

  // The tag of the block whose data is at `p`.
  [[nodiscard]] static boundary_tag* of(void* p) noexcept { return static_cast<boundary_tag*>(p) - 1; }
  [[nodiscard]] static const boundary_tag* of(const void* p) noexcept {
    return static_cast<const boundary_tag*>(p) - 1;
  }

  [[nodiscard]] void* data() noexcept { return this + 1; }
  [[nodiscard]] std::byte* bytes() noexcept { return reinterpret_cast<std::byte*>(this); }
  [[nodiscard]] const std::byte* bytes() const noexcept { return reinterpret_cast<const std::byte*>(this); }

  // A copy of the tag as it is now; it belongs to no block.
  [[nodiscard]] MALLARD_INLINE boundary_tag seen() const noexcept {
    boundary_tag copy;
    copy.word_ = std::atomic_ref(const_cast<std::size_t&>(word_)).load(std::memory_order_relaxed);
    return copy;
  }

  // Bytes, the tag included.
  [[nodiscard]] std::size_t size() const noexcept { return word_ & ~bits; }

  // Bytes for the block's user.
  [[nodiscard]] std::size_t usable() const noexcept { return size() - overhead; }

  [[nodiscard]] bool is_used() const noexcept { return (word_ & used) != 0; }
  [[nodiscard]] bool is_previous_used() const noexcept { return (word_ & previous_used) != 0; }
  [[nodiscard]] bool is_behind_used() const noexcept {
    return (word_ & (used | previous_used)) == (used | previous_used);
  }
  [[nodiscard]] bool ends_chunk() const noexcept { return (word_ & end) != 0; }

  // The tag `distance` bytes behind this one.
  [[nodiscard]] boundary_tag* at(std::size_t distance) noexcept {
    return reinterpret_cast<boundary_tag*>(bytes() + distance);
  }
  [[nodiscard]] const boundary_tag* at(std::size_t distance) const noexcept {
    return reinterpret_cast<const boundary_tag*>(bytes() + distance);
  }
  [[nodiscard]] boundary_tag* next() noexcept { return at(size()); }
  [[nodiscard]] const boundary_tag* next() const noexcept { return at(size()); }

  // Size of the previous block; precondition: that block is free.
  [[nodiscard]] std::size_t previous_size() const noexcept { return (this - 1)->word_; }
  [[nodiscard]] boundary_tag* previous() noexcept {
    return reinterpret_cast<boundary_tag*>(bytes() - previous_size());
  }

  // Makes this a free block of `size` bytes behind a used one. Does not change the next tag.
  MALLARD_INLINE void set_free(std::size_t size) noexcept {
    word_ = size | previous_used;
    (at(size) - 1)->word_ = size;
  }

  // Makes this a used block of `size` bytes behind a used one.
  MALLARD_INLINE void set_used(std::size_t size) noexcept { word_ = size | previous_used | used; }

  // Changes the size of a used block; the flag of the previous block stays.
  void resize(std::size_t size) noexcept { word_ = size | (word_ & bits); }

  // Merges two adjacent used blocks, in either order; null if they are not adjacent.
  [[nodiscard]] MALLARD_INLINE static boundary_tag* merged(boundary_tag* a, boundary_tag* b) noexcept {
    if (a->next() == b) {
      a->resize(a->size() + b->size());
      return a;
    }
    if (b->next() != a) return nullptr;
    b->resize(a->size() + b->size());
    return b;
  }

  // Makes a used block `size` bytes large, as one that has grown; or as one that has not.
  void grow_to(std::size_t size) noexcept { word_ = size | (word_ & bits) | grown; }
  void forget_growth() noexcept { word_ &= ~grown; }
  [[nodiscard]] bool has_grown() const noexcept { return (word_ & grown) != 0; }

  // Whether this is a used block below `limit` bytes (a power of two) that has not grown; a single test.
  [[nodiscard]] MALLARD_INLINE bool is_plain_below(std::size_t limit) const noexcept {
    return (word_ & ~((limit - granule) | previous_used)) == used;
  }

  MALLARD_INLINE void mark_used() noexcept { word_ |= used; }
  MALLARD_INLINE void mark_previous_used() noexcept { show(word_ | previous_used); }
  MALLARD_INLINE void mark_previous_free() noexcept { show(word_ & ~previous_used); }

  // Makes this the end of a chunk whose blocks have `size` bytes together, behind a free one.
  void set_end(std::size_t size) noexcept { word_ = size | used | end; }

  // Whether this free block is all that its chunk has.
  [[nodiscard]] bool is_whole_chunk() const noexcept {
    const boundary_tag* const behind = next();
    return behind->ends_chunk() && behind->size() == size();
  }

  // Whether this is not a tag but the word in front of a block from elsewhere.
  [[nodiscard]] MALLARD_INLINE bool is_from_elsewhere() const noexcept {
    return (word_ & (used | previous_used)) == 0;
  }

 private:
  static constexpr std::size_t used = 1;
  static constexpr std::size_t previous_used = 2;
  static constexpr std::size_t end = 4;
  static constexpr std::size_t grown = 8;
  static constexpr std::size_t bits = granule - 1;

  MALLARD_INLINE void show(std::size_t word) noexcept {
    std::atomic_ref(word_).store(word, std::memory_order_relaxed);
  }

  std::size_t word_;
};

static_assert(sizeof(boundary_tag) == boundary_tag::overhead);

}  // namespace mallard
