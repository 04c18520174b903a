// class_slabs<Size>: the slabs of one size class, and which of its free blocks are reused next.
//
//     slab     |[chunk's header][header| b | b | b | b |.... untouched ....|      at a multiple of Size
//                  freed, used, listed
//
//     frees --> magazine (the caller's free list) --full--> previous one --flush--> each block to its slab
//     allocations <-- magazine <--empty-- previous one, a slab with enough free, new blocks in order
//
// One free list for a class is shuffled by use: after a while consecutive blocks of it lie on as many pages,
// and each allocation reads its link from a block that is in no cache. Here a freed block waits in a
// magazine, where the newest is reused first, and then goes to the slab that it lies in, which its address
// tells. So blocks that are allocated one after the other lie in one slab, or were in use shortly before. A
// slab is used again when a 32nd of it is free. One without a block in use goes back to the heap, for any
// class, and starts anew in the order of addresses. Plain state, four pointers: the caller passes the class's
// size, its magazine and the heap's slabs. Invariant: a slab's header counts the blocks that are in use or in
// magazines; a slab is listed if at least a 32nd of it is free, and one block in use. Cost: a flush is
// O(blocks), everything else O(1) beside the source's. Not synchronised. Seed 003, chapter 3 (mallocs with a
// free list for each page).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/chain.hpp"
#include "mallard/core/intrusive_stack.hpp"
#include "mallard/core/usage.hpp"

namespace mallard {

// The header of a slab, behind the header of a chunk that may start with it: both fill a cache line.
template <std::size_t Size>
struct class_slab {
  static_assert((Size & (Size - 1)) == 0 && 256 <= Size && Size <= 32768, "offsets take 16 bits");

  // Offsets of the header and of the first block.
  static constexpr std::size_t offset = 32;
  static constexpr std::size_t first_block = 64;

  // The slab that `p` lies in; precondition: it lies in one.
  [[nodiscard]] static class_slab* of(const void* p) noexcept {
    return reinterpret_cast<class_slab*>((address_of(p) & ~(Size - 1)) + offset);
  }

  // The largest number of blocks of `size` bytes.
  [[nodiscard]] static constexpr std::size_t capacity(std::size_t size) noexcept {
    return (Size - first_block) / size;
  }

  [[nodiscard]] std::byte* start() const noexcept {
    return const_cast<std::byte*>(reinterpret_cast<const std::byte*>(this)) - offset;
  }
  [[nodiscard]] std::size_t carved(std::size_t size) const noexcept { return (cursor - first_block) / size; }
  [[nodiscard]] std::size_t room() const noexcept { return Size - cursor; }

  // Carved blocks that are not in `freed`.
  [[nodiscard]] std::size_t used() const noexcept { return std::size_t{left} + notify; }

  // Whether a carved block of `size` bytes starts at `p`, which lies in this slab.
  [[nodiscard]] bool has_block_at(const void* p, std::size_t size) const noexcept {
    const std::size_t at = address_of(p) & (Size - 1);
    return first_block <= at && at < cursor && (at - first_block) % size == 0;
  }

  [[nodiscard]] violation validate(std::size_t size) const noexcept {
    if (cursor < first_block || cursor > Size) return {"class_slabs: a cursor is outside its slab"};
    if ((cursor - first_block) % size != 0 || used() > carved(size))
      return {"class_slabs: a slab's counts contradict each other"};
    std::size_t blocks = carved(size) - used();
    for (const chain::node* n = freed; n != nullptr; n = n->next) {
      if (blocks-- == 0) return {"class_slabs: more blocks are freed than were in use: a circle"};
      if (of(n) != this || !has_block_at(n, size))
        return {"class_slabs: a freed block is none of its slab's"};
    }
    if (blocks != 0) return {"class_slabs: a freed block is missing"};
    return {};
  }

  chain::node* freed = nullptr;
  std::uint16_t left = 0;              // frees until the slab is to be listed, or is empty
  std::uint16_t notify = 0;            // blocks used then
  std::uint16_t cursor = first_block;  // offset of what no block has reached
  std::uint8_t index = 0;              // of its class
  bool is_shared : 1 = false;          // cut up for several classes: each free is told of
  bool is_listed : 1 = false;          // in its class's list
  class_slab* next = nullptr;          // in its class's list, or among the heap's empty slabs
  class_slab* previous = nullptr;      // in its class's list
};

// The slabs of a heap that belong to no class, and the way to new ones: Memory has take_aligned(size).
template <std::size_t Size, class Memory>
class free_slabs {
 public:
  using slab = class_slab<Size>;

  explicit free_slabs(Memory& from) noexcept : memory_(from) {}

  // A slab without blocks for class `index`; null when none can be had.
  [[nodiscard]] slab* take(std::size_t index) noexcept {
    std::byte* start = nullptr;
    if (first_ != nullptr)
      start = std::exchange(first_, first_->next)->start();
    else
      start = memory_.take_aligned(Size);
    if (start == nullptr) return nullptr;
    auto* const taken = ::new (start + slab::offset) slab;
    taken->index = static_cast<std::uint8_t>(index);
    return taken;
  }

  // The same, cut up by the caller for several classes.
  [[nodiscard]] slab* take_shared() noexcept {
    slab* const taken = take(0);
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

 private:
  Memory& memory_;
  slab* first_ = nullptr;
};

template <std::size_t Size>
class class_slabs {
 public:
  using slab = class_slab<Size>;

  // Blocks of `size` bytes that are carved at once: a KiB, or eight, as a call costs as much as some of them.
  [[nodiscard]] static constexpr std::size_t batch(std::size_t size) noexcept {
    return std::max<std::size_t>(1024 / size, 8);
  }

  // Frees of blocks of `size` bytes until a magazine is full: half a slab, which stays in the first-level
  // cache.
  [[nodiscard]] static constexpr std::uint32_t magazine(std::size_t size) noexcept {
    return static_cast<std::uint32_t>(std::clamp<std::size_t>(Size / 2 / size, 4, 128));
  }

  // A full magazine becomes the previous one. The blocks of that go to their slabs; those in a shared slab,
  // and among the `early_bytes` bytes from `early` on, which are in none, to the list of blocks that were
  // carved before the class had slabs. O(magazine).
  template <class Slabs>
  MALLARD_NOINLINE void exchange(intrusive_stack& magazine, Slabs& slabs, const std::byte* early,
                                 std::size_t early_bytes) noexcept {
    auto* n = static_cast<chain::node*>(previous_.top());
    previous_ = std::exchange(magazine, {});
    while (n != nullptr) {
      chain::node* const next = n->next;
      if (address_of(n) - address_of(early) < early_bytes) {
        early_.push(n);
      } else {
        slab* const s = slab::of(n);
        n->next = s->freed;
        s->freed = n;
        if (--s->left == 0) [[unlikely]]
          notice(s, n, slabs);
      }
      n = next;
    }
  }

  // Freed blocks for an empty magazine, or none; `room` becomes what makes it full.
  [[nodiscard]] intrusive_stack take_freed(std::size_t size, std::uint32_t& room) noexcept {
    room = 0;
    if (!previous_.empty()) return std::exchange(previous_, {});
    room = magazine(size);
    if (!early_.empty()) return std::exchange(early_, {});
    slab* const s = listed_;
    if (s == nullptr) return {};
    unlist(s);
    set_used(s, s->carved(size), size);
    return intrusive_stack(std::exchange(s->freed, nullptr));
  }

  // New blocks, as many as a batch has, lowest first; none when no slab can be had.
  template <class Slabs>
  [[nodiscard]] intrusive_stack carve(std::size_t size, std::size_t index, Slabs& slabs) noexcept {
    if (!open(size, index, slabs)) return {};
    const std::size_t count = std::min(batch(size), current_->room() / size);
    std::byte* const first = take_fresh(size, count);
    std::byte* last = first;
    for (std::size_t i = 1; i < count; ++i, last += size)
      ::new (last) chain::node{reinterpret_cast<chain::node*>(last + size)};
    ::new (last) chain::node{nullptr};
    return intrusive_stack(reinterpret_cast<chain::node*>(first));
  }

  // `count` adjacent new blocks, at most a slab's capacity; null when no slab can be had. What the slab in
  // use has left, if it is too little, is carved into `freed`.
  template <class Slabs>
  [[nodiscard]] std::byte* carve_adjacent(std::size_t size, std::size_t index, std::size_t count,
                                          Slabs& slabs, intrusive_stack& freed) noexcept {
    if (current_ != nullptr && current_->room() / size < count) {
      slab* const fresh = slabs.take(index);
      if (fresh == nullptr) return nullptr;
      chain rest;
      while (size <= current_->room()) rest.push_back(take_fresh(size, 1));
      freed.push(rest);
      current_ = fresh;
    }
    return open(size, index, slabs) ? take_fresh(size, count) : nullptr;
  }

  // Undoes the carving of the last batch's free blocks, if `freed` contains nothing else. O(batch).
  void uncarve(std::size_t size, intrusive_stack& freed) noexcept {
    const auto* const first = static_cast<std::byte*>(freed.top());
    if (first == nullptr || current_ == nullptr || slab::of(first) != current_) return;
    const std::byte* last = first;
    std::size_t count = 1;
    for (; count <= batch(size) && intrusive_stack::next(last) == last + size; ++count) last += size;
    if (intrusive_stack::next(last) != nullptr || last + size != current_->start() + current_->cursor) return;
    const std::size_t used = current_->used() - count;
    current_->cursor = static_cast<std::uint16_t>(first - current_->start());
    set_used(current_, used, size);
    freed = {};
  }

  // Free blocks that lie in no slab's list: in the previous magazine and carved early. O(blocks).
  [[nodiscard]] std::size_t waiting() const noexcept { return previous_.count() + early_.count(); }

  // The first of each of these two lists, for a validation.
  [[nodiscard]] const intrusive_stack& previous() const noexcept { return previous_; }
  [[nodiscard]] const intrusive_stack& early() const noexcept { return early_; }

  // Whether the listed slabs are of class `index`, at most `most`, and linked in both directions.
  [[nodiscard]] violation validate_list(std::size_t index, std::size_t most) const noexcept {
    const slab* before = nullptr;
    for (const slab* s = listed_; s != nullptr; before = s, s = s->next) {
      if (most-- == 0) return {"class_slabs: more slabs are listed than there are: a circle"};
      if (s->index != index || !s->is_listed || s->previous != before || s->freed == nullptr)
        return {"class_slabs: a slab is listed wrongly"};
    }
    return {};
  }

 private:
  // A slab has a 32nd free, or everything, by the free of `n`; or it is shared.
  template <class Slabs>
  MALLARD_NOINLINE void notice(slab* s, chain::node* n, Slabs& slabs) noexcept {
    if (s->is_shared) {
      s->freed = nullptr;
      s->left = 1;
      return early_.push(n);
    }
    if (s->notify != 0) {
      s->is_listed = true;
      s->left = std::exchange(s->notify, std::uint16_t{0});
      s->previous = nullptr;
      s->next = listed_;
      if (listed_ != nullptr) listed_->previous = s;
      listed_ = s;
      return;
    }
    if (s->is_listed) unlist(s);
    if (s != current_) return slabs.put(s);
    s->freed = nullptr;
    s->cursor = slab::first_block;
  }

  void unlist(slab* s) noexcept {
    (s->previous == nullptr ? listed_ : s->previous->next) = s->next;
    if (s->next != nullptr) s->next->previous = s->previous;
    s->is_listed = false;
  }

  // Sets how many blocks are used, of which there is one at least unless the slab is carved anew.
  static void set_used(slab* s, std::size_t used, std::size_t size) noexcept {
    const std::size_t enough = std::max<std::size_t>(slab::capacity(size) / 32, 1);
    const std::size_t carved = s->carved(size);
    s->notify = static_cast<std::uint16_t>(s->is_listed || carved <= enough ? 0 : carved - enough);
    s->left = static_cast<std::uint16_t>(used - s->notify);
  }

  // Whether the slab in use has room for a block, after another one was taken where it had none.
  template <class Slabs>
  bool open(std::size_t size, std::size_t index, Slabs& slabs) noexcept {
    if (current_ != nullptr && size <= current_->room()) return true;
    slab* const fresh = slabs.take(index);
    if (fresh == nullptr) return false;
    current_ = fresh;
    return true;
  }

  std::byte* take_fresh(std::size_t size, std::size_t count) noexcept {
    std::byte* const first = current_->start() + current_->cursor;
    const std::size_t used = current_->used() + count;
    current_->cursor = static_cast<std::uint16_t>(current_->cursor + count * size);
    set_used(current_, used, size);
    return first;
  }

  intrusive_stack previous_;  // the magazine before the caller's
  intrusive_stack early_;
  slab* listed_ = nullptr;
  slab* current_ = nullptr;  // the one that new blocks are carved from
};

}  // namespace mallard
