// class_slabs<Size, Tail>: the slabs of one size class, and which of its free blocks are reused next.
//
//     slab, aligned to Size:  [chunk's header][header][a bit a block][ b | b | b | b |.... untouched ....]
//
//     frees --> magazine --full--> the older half: a bit each, in the slab that it lies in
//     allocations <-- magazine <--empty-- the bits of slabs with enough free, lowest address first
//
// One free list for a class is shuffled by use: after a while consecutive blocks of it lie on as many pages,
// and each allocation reads its link from a block that is in no cache. Here what was freed last waits in a
// magazine (magazine.hpp), and what is older waits in the slab that it lies in, which its address gives.
// Blocks come back from there in the order of addresses. So blocks that are allocated one after the other are
// neighbours, or were in use shortly before, and nothing touches a free block until it is used again. A slab
// is used again when a 32nd of it is free. One without a block in use goes back to the heap, for any class.
// Plain state, two pointers: the caller passes the class's size, its magazine's slots and the heap's slabs.
// Invariant: a slab's header counts the blocks that are in use or in magazines; a slab is listed if it can
// give blocks, at least a 32nd of it when it was listed. Cost: O(blocks put or taken + slabs looked at). Not
// synchronised. Seed 003, chapter 3 (mallocs with free blocks for each page).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/intrusive_stack.hpp"
#include "mallard/core/magazine.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/layer/address_ranges.hpp"

namespace mallard {

// The header of a slab, behind the header of a chunk that may start with it: both fill a cache line. A bit
// for each block follows, set if the block is free and in no magazine.
// Tail: bytes at its end that are not its own.
template <std::size_t Size, std::size_t Tail = 0>
struct class_slab {
  static_assert((Size & (Size - 1)) == 0 && 256 <= Size && Size <= 32768, "offsets take 16 bits");

  using word = std::uint64_t;
  static constexpr std::size_t bits_of_word = 64;

  // Offsets of the header, of the bits, and of the first block of a slab that several classes share.
  static constexpr std::size_t offset = 32;
  static constexpr std::size_t bits_offset = 64;
  static constexpr std::size_t shared_block = bits_offset + sizeof(word);

  // The slab that `p` lies in; precondition: it lies in one.
  [[nodiscard]] static class_slab* of(const void* p) noexcept {
    return reinterpret_cast<class_slab*>((address_of(p) & ~(Size - 1)) + offset);
  }

  // Offset of the first block of `size` bytes, aligned as far as the size is, up to 64.
  [[nodiscard]] static constexpr std::size_t first_block(std::size_t size) noexcept {
    const std::size_t words = ((Size - bits_offset) / size + bits_of_word - 1) / bits_of_word;
    return align_up(bits_offset + words * sizeof(word), std::min<std::size_t>(size & ~(size - 1), 64));
  }

  // The number of blocks of `size` bytes.
  [[nodiscard]] static constexpr std::size_t capacity_of(std::size_t size) noexcept {
    return (Size - Tail - first_block(size)) / size;
  }

  // The size's inverse times 2^32, rounded up.
  [[nodiscard]] static constexpr std::uint32_t inverse_of(std::size_t size) noexcept {
    return static_cast<std::uint32_t>((std::uint64_t{1} << 32) / size + 1);
  }

  [[nodiscard]] std::byte* start() const noexcept {
    return const_cast<std::byte*>(reinterpret_cast<const std::byte*>(this)) - offset;
  }
  [[nodiscard]] word* bits() const noexcept { return reinterpret_cast<word*>(start() + bits_offset); }
  [[nodiscard]] std::size_t words() const noexcept { return (capacity + bits_of_word - 1) / bits_of_word; }

  // Blocks that are in use or in a magazine.
  [[nodiscard]] std::size_t used() const noexcept { return std::size_t{left} + notify; }

  // The number of the block at `p`, counted from the first; 0 in a shared slab.
  [[nodiscard]] std::size_t number_of(const void* p) const noexcept {
    const std::uint64_t at = (address_of(p) & (Size - 1)) - first;
    return static_cast<std::size_t>((at * inverse) >> 32);
  }

  // Whether a block of `size` bytes that was handed out once starts at `p`, which lies in this slab.
  [[nodiscard]] bool has_block_at(const void* p, std::size_t size) const noexcept {
    const std::size_t at = address_of(p) & (Size - 1);
    return first <= at && (at - first) % size == 0 && (at - first) / size < carved;
  }

  // Whether the block at `p` is free and in no magazine.
  [[nodiscard]] bool has_free(const void* p) const noexcept {
    const std::size_t number = number_of(p);
    return (bits()[number / bits_of_word] >> (number % bits_of_word) & 1) != 0;
  }

  // Makes all blocks free, of class `of_class` and of `size` bytes.
  void prepare(std::size_t of_class, std::size_t size) noexcept {
    index = static_cast<std::uint8_t>(of_class);
    inverse = inverse_of(size);
    first = static_cast<std::uint16_t>(first_block(size));
    capacity = static_cast<std::uint16_t>(capacity_of(size));
    std::fill_n(bits(), words(), ~word{0});
    if (capacity % bits_of_word != 0) bits()[words() - 1] = (word{1} << (capacity % bits_of_word)) - 1;
  }

  [[nodiscard]] violation validate(std::size_t size) const noexcept {
    if (capacity == 0) return {used() == 0 && carved == 0 ? nullptr : "class_slabs: an empty slab is in use"};
    if (capacity != capacity_of(size) || first != first_block(size) || carved > capacity)
      return {"class_slabs: a slab is not of its class"};
    std::size_t free = 0;
    for (std::size_t i = 0; i < words(); ++i) free += static_cast<std::size_t>(std::popcount(bits()[i]));
    if (inverse != inverse_of(size)) return {"class_slabs: a slab is not of its class"};
    if (is_listed ? notify != 0 || used() == capacity : used() == 0 || (notify == 0 && capacity != 1))
      return {"class_slabs: a slab is listed, or not, against its counts"};
    if (used() + free != capacity ||
        (words() * bits_of_word != capacity && bits()[words() - 1] >> (capacity % bits_of_word) != 0))
      return {"class_slabs: a slab's counts contradict its bits"};
    return {};
  }

  std::uint32_t inverse = 0;  // of the size
  std::uint16_t left = 0;     // frees until the slab is to be listed, or is empty
  std::uint16_t notify = 0;   // blocks used then
  std::uint16_t carved =
      0;  // blocks from the first on, all that were handed out; capacity unless it is the newest
  std::uint16_t capacity = 0;      // blocks; 0 in a slab of no class
  std::uint16_t first = 0;         // offset of the first block
  std::uint8_t index = 0;          // of its class
  bool is_shared : 1 = false;      // cut up for several classes: each free is reported
  bool is_listed : 1 = false;      // in its class's list
  class_slab* next = nullptr;      // in its class's list, or among the heap's empty slabs
  class_slab* previous = nullptr;  // in its class's list
};

// The slabs of a heap that belong to no class, and the way to new ones: Memory has take_aligned(size).
template <std::size_t Size, class Memory>
class free_slabs {
 public:
  using slab = class_slab<Size>;
  static_assert(sizeof(slab) == slab::bits_offset - slab::offset);

  explicit free_slabs(Memory& from) noexcept : memory_(from) {}

  // A slab without blocks, of no class; null when none can be had.
  [[nodiscard]] slab* take() noexcept {
    std::byte* start = nullptr;
    if (first_ != nullptr)
      start = std::exchange(first_, first_->next)->start();
    else
      start = memory_.take_aligned(Size);
    return start == nullptr ? nullptr : ::new (start + slab::offset) slab;
  }

  // The same, cut up by the caller for several classes.
  [[nodiscard]] slab* take_shared() noexcept {
    slab* const taken = take();
    if (taken == nullptr) return nullptr;
    taken->is_shared = true;
    taken->left = 1;
    return taken;
  }

  void put(slab* s) noexcept { first_ = ::new (s) slab{.next = first_}; }

  // Whether none is at hand.
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

  // Drops all slabs, whose memory ends.
  void forget() noexcept { first_ = nullptr; }

  // Whether there are at most `most`, in `chunks` and of no class.
  [[nodiscard]] violation validate(const address_ranges& chunks, std::size_t most) const noexcept {
    for (const slab* s = first_; s != nullptr; s = s->next) {
      if (most-- == 0) return {"class_slabs: more slabs are empty than there are: a circle"};
      if (!chunks.contains(s) || s != slab::of(s) || s->capacity != 0)
        return {"class_slabs: a slab is among the empty ones wrongly"};
    }
    return {};
  }

 private:
  Memory& memory_;
  slab* first_ = nullptr;
};

template <std::size_t Size, std::size_t Tail = 0>
class class_slabs {
 public:
  using slab = class_slab<Size, Tail>;
  using slot = magazine::slot;

  // Slots of the magazine of a class with blocks of `size` bytes.
  [[nodiscard]] static constexpr std::size_t slots(std::size_t size) noexcept {
    return std::clamp<std::size_t>(2 * Size / size, 16, 128);
  }

  // Whether there is nothing to take.
  [[nodiscard]] bool empty() const noexcept { return listed_ == nullptr; }

  // Free blocks, up to `most` of them, into the slots below `end`, so that the lowest addresses of a slab
  // come last; returns their number. If `only_used`, none that was never handed out.
  [[nodiscard]] std::size_t take(slot* end, std::size_t most, std::size_t size,
                                 bool only_used = false) noexcept {
    std::size_t taken = 0;
    for (slab* s = listed_; s != nullptr && taken != most;) {
      slab* const next = s->next;
      taken += take_from(s, end - taken, most - taken, size, only_used ? s->carved : s->capacity);
      s = next;
    }
    return taken;
  }

  // Adds a slab without blocks in use, from which the next ones are taken; false when none can be had.
  template <class Slabs>
  [[nodiscard]] bool add(std::size_t index, std::size_t size, Slabs& slabs) noexcept {
    slab* const fresh = slabs.take();
    if (fresh == nullptr) return false;
    fresh->prepare(index, size);
    if (newest_ != nullptr)
      newest_->carved = newest_->capacity;  // what is left there serves as any free block
    newest_ = fresh;
    list(fresh);
    return true;
  }

  // `count` adjacent blocks that were never handed out, at most a slab's capacity; null when no slab can be
  // had.
  template <class Slabs>
  [[nodiscard]] std::byte* take_adjacent(std::size_t count, std::size_t index, std::size_t size,
                                         Slabs& slabs) noexcept {
    if (newest_ == nullptr || std::size_t{newest_->capacity} - newest_->carved < count)
      if (!add(index, size, slabs)) return nullptr;
    slab* const s = newest_;
    const std::size_t number = s->carved;
    for (std::size_t i = number; i != number + count; ++i)
      s->bits()[i / slab::bits_of_word] &= ~(typename slab::word{1} << (i % slab::bits_of_word));
    s->carved = static_cast<std::uint16_t>(number + count);
    set_used(s, s->used() + count);
    return s->start() + s->first + number * size;
  }

  // For blocks of a magazine: of the newest slab, the last ones that were handed out, if they come first in
  // `blocks` and the highest first, are as if never handed out; returns their number.
  std::size_t untake(std::span<const slot> blocks) noexcept {
    slab* const s = newest_;
    std::size_t count = 0;
    for (const slot block : blocks) {
      const void* const p = reinterpret_cast<const void*>(block);
      if (s == nullptr || slab::of(p) != s || s->number_of(p) + 1 != s->carved) break;
      --s->carved;
      s->bits()[s->carved / slab::bits_of_word] |= typename slab::word{1} << (s->carved % slab::bits_of_word);
      ++count;
    }
    if (count != 0) set_free(s, s->used() - count);
    return count;
  }

  // Lists a slab of the class that has free blocks, however few.
  void relist(slab* s) noexcept {
    if (!s->is_listed && s->used() != s->capacity) set_free(s, s->used());
  }

  // Blocks that were freed go to their slabs; those in a shared slab, and among the `early_bytes` bytes from
  // `early` on, which are in none, to `outside`.
  template <class Slabs>
  void put(std::span<const slot> blocks, Slabs& slabs, const std::byte* early, std::size_t early_bytes,
           intrusive_stack& outside) noexcept {
    for (const slot block : blocks) {
      void* const p = reinterpret_cast<void*>(block);
      if (block - address_of(early) < early_bytes) {
        outside.push(p);
        continue;
      }
      slab* const s = slab::of(p);
      if (mark_free(s, p)) [[unlikely]]
        notice(s, p, slabs, outside);
    }
  }

  // The same for one block, in a slab that is not shared.
  template <class Slabs>
  MALLARD_INLINE void put(void* p, Slabs& slabs) noexcept {
    slab* const s = slab::of(p);
    if (mark_free(s, p)) [[unlikely]]
      notice(s, slabs);
  }

  // The newest slab serves as any other from now on, and goes to `slabs` if no block in it is in use.
  template <class Slabs>
  void retire_newest(Slabs& slabs) noexcept {
    slab* const s = std::exchange(newest_, nullptr);
    if (s == nullptr) return;
    s->carved = s->capacity;
    if (s->used() != 0) return;
    unlist(s);
    slabs.put(s);
  }

  // Whether the listed slabs are of class `index`, at most `most`, and linked in both directions.
  [[nodiscard]] violation validate_list(std::size_t index, std::size_t most) const noexcept {
    const slab* before = nullptr;
    for (const slab* s = listed_; s != nullptr; before = s, s = s->next) {
      if (most-- == 0) return {"class_slabs: more slabs are listed than there are: a circle"};
      if (s->index != index || !s->is_listed || s->previous != before || s->used() == s->capacity)
        return {"class_slabs: a slab is listed wrongly"};
    }
    return {};
  }

 private:
  std::size_t take_from(slab* s, slot* end, std::size_t most, std::size_t size, std::size_t below) noexcept {
    using word = typename slab::word;
    const slot first = address_of(s->start()) + s->first;
    std::size_t taken = 0;
    std::size_t highest = 0;
    for (std::size_t i = 0; i * slab::bits_of_word < below && taken != most; ++i) {
      const std::size_t from = i * slab::bits_of_word;
      word set = s->bits()[i];
      if (below - from < slab::bits_of_word) set &= (word{1} << (below - from)) - 1;
      const word before = set;
      for (; set != 0 && taken != most; set &= set - 1) {
        highest = from + static_cast<std::size_t>(std::countr_zero(set));
        *(end - ++taken) = first + highest * size;
      }
      s->bits()[i] &= ~(before ^ set);
    }
    if (taken == 0) return 0;
    s->carved = std::max(s->carved, static_cast<std::uint16_t>(highest + 1));
    set_used(s, s->used() + taken);
    return taken;
  }

  // Marks the block at `p` free; whether its slab is to be looked at.
  MALLARD_INLINE static bool mark_free(slab* s, const void* p) noexcept {
    const std::size_t number = s->number_of(p);
    s->bits()[number / slab::bits_of_word] |= typename slab::word{1} << (number % slab::bits_of_word);
    return --s->left == 0;
  }

  // A slab has a 32nd free, or everything, by the free of `p`; or it is shared.
  template <class Slabs>
  MALLARD_NOINLINE void notice(slab* s, void* p, Slabs& slabs, intrusive_stack& outside) noexcept {
    if (s->is_shared) {
      s->left = 1;
      return outside.push(p);
    }
    notice(s, slabs);
  }

  template <class Slabs>
  MALLARD_NOINLINE void notice(slab* s, Slabs& slabs) noexcept {
    if (s->notify != 0) return set_free(s, s->notify);
    if (s == newest_) {
      set_free(s, 0);
      s->carved = 0;
      return;
    }
    if (s->is_listed) unlist(s);
    slabs.put(s);
  }

  void list(slab* s) noexcept {
    s->is_listed = true;
    s->previous = nullptr;
    s->next = listed_;
    if (listed_ != nullptr) listed_->previous = s;
    listed_ = s;
  }

  void unlist(slab* s) noexcept {
    (s->previous == nullptr ? listed_ : s->previous->next) = s->next;
    if (s->next != nullptr) s->next->previous = s->previous;
    s->is_listed = false;
  }

  // Of a slab that can give blocks now.
  void set_free(slab* s, std::size_t used) noexcept {
    s->left = static_cast<std::uint16_t>(used);
    s->notify = 0;
    if (!s->is_listed) list(s);
  }

  // Of a listed slab that has given blocks. One that has none left is noticed once enough is free again.
  void set_used(slab* s, std::size_t used) noexcept {
    if (used != s->capacity) {
      s->left = static_cast<std::uint16_t>(used);
      return;
    }
    unlist(s);
    s->left = static_cast<std::uint16_t>(std::max<std::size_t>(used / 32, 1));
    s->notify = static_cast<std::uint16_t>(used - s->left);
  }

  slab* listed_ = nullptr;
  slab* newest_ = nullptr;  // the only one with blocks that were never handed out
};

}  // namespace mallard
