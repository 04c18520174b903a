// segment_slabs: slabs of one size class each, made of whole segments, found from a block's address.
//
//     size --> current slab of its class --> [ b | b | b | b | ... untouched ... ]     a segment of 64 KiB
//                                              `-- free list, local to the slab
//     p ----> entry of its segment --> the slab's free list
//
// Blocks and slabs have no headers: entries of segments, which lie outside, tell the slab, its class and its
// owner (source/segments.hpp). Free blocks wait in the slab that they lie in, the newest first: blocks that
// are allocated one after the other are neighbours, or were in use shortly before. A slab is carved in
// address order, a page at a time, so a page that is not needed is never touched. When no block of it is in
// use, it goes back to the segments, for any heap, or, if it is the one at hand, starts anew in that order.
// One at hand with blocks of more than a KiB keeps them free as they are, unless another slab has some. A
// full slab is used again when a sixteenth of it is free. One that only a few blocks keep gives back the
// pages between them, where memory would otherwise grow: sizes that are no longer requested do not hold what
// others need.
//
//     quiet --carved more than a page--> busy --no block free--> full --a sixteenth free--> listed --> busy
//       ^--------- all free -------------'  '--> begun, where another with free blocks goes first --> busy
//
// Only a slab's blocks in use are counted, or how many more must be freed until something changes.
// Plain state, used by one thread at a time; segments are shared. It holds nothing until first used. Cost: 10
// instructions to take, 5 to free, beside finding the entry; one operation in a page's blocks carves, one in
// a sixteenth of a slab's lists it, and a slab of new memory looks at the entries of eight others. A heap may
// own several of these, which share what its entries name as their owner; a free need not know which one.
// Seed 003, chapter 3 (pages with lists of their own).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/size_classes.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/layer/slab_pages.hpp"
#include "mallard/source/os_pages.hpp"
#include "mallard/source/segments.hpp"

namespace mallard {

// Steps of 16 bytes, what malloc must align to, and eight classes a doubling.
using segment_classes = size_classes<16, 128, 8, 32768>;

template <class Segments>
class segment_slabs : public segment_keeper {
 public:
  using classes = segment_classes;

  // Sizes up to this are found in one table.
  static constexpr std::size_t small = classes::small;

  // What a slab is: a segment, or a part of one. Parts are for slabs beside many others, of which most hold
  // little: what has no block yet takes less of addresses, and of memory where pages are huge. They have
  // blocks of at most `small` bytes.
  enum class extent : bool { segment, part };

  // `owner`: what the entries of the slabs name as their owner. `keeps_last`: whether a class keeps its last
  // slab when no block of it is in use, though it has touched more than a page of it.
  constexpr segment_slabs(Segments& from, const void* owner, bool keeps_last = true,
                          extent of_slab = extent::segment) noexcept
      : from_(from),
        owner_(owner),
        keeps_last_(keeps_last),
        slab_bytes_(static_cast<std::uint32_t>(of_slab == extent::part ? Segments::part_bytes
                                                                       : Segments::segment_bytes)) {}
  segment_slabs(const segment_slabs&) = delete;
  segment_slabs& operator=(const segment_slabs&) = delete;

  // A free block of at least `size` bytes, at most `small`; null if none is at hand.
  [[nodiscard]] MALLARD_INLINE void* take_at_hand(std::size_t size) noexcept {
    return pop(slab_at_hand(size));
  }

  // The slab that such a block is taken from, and a free block of it, which must still be of that size: for
  // a caller that remembers the slab. It is another one after refill() of that class, trim(), release(), and
  // notice() of it.
  [[nodiscard]] MALLARD_INLINE segment& slab_at_hand(std::size_t size) noexcept {
    return *current_small_[(size + (classes::step - 1)) / classes::step];
  }
  [[nodiscard]] MALLARD_INLINE static void* take_from(segment& s) noexcept { return pop(s); }

  // The same of class `index`.
  [[nodiscard]] void* take_of_class(std::size_t index) noexcept { return pop(*current(index)); }

  // A block of class `index` where none is at hand; null when there is no memory.
  [[nodiscard]] MALLARD_NOINLINE void* refill(std::size_t index) noexcept {
    segment* s = current(index);
    if (s->free == nullptr) {
      if (segment* const other = next_slab(index, *s); other != s) {
        if (other == nullptr) return nullptr;
        put_aside(*s);
        set_current(index, other);
        s = other;
      }
    }
    void* const p = pop(*s);
    return p != nullptr ? p : carve(*s);
  }

  // Ends the block at `p` in slab `s`, of these or of others: its keeper is notified.
  MALLARD_INLINE static void free(segment& s, void* p) noexcept {
    *static_cast<void**>(p) = s.free;
    s.free = p;
    if (--s.left == 0) [[unlikely]]
      s.keeper->notice(s);
  }

  // The same for several blocks of one slab.
  static void free(segment& s, std::span<const std::uintptr_t> blocks) noexcept {
    if (blocks.size() >= s.left) {
      for (const std::uintptr_t p : blocks) free(s, reinterpret_cast<void*>(p));
      return;
    }
    void* next = s.free;
    for (const std::uintptr_t p : blocks) {
      void* const block = reinterpret_cast<void*>(p);
      *static_cast<void**>(block) = next;
      next = block;
    }
    s.free = next;
    s.left -= static_cast<std::uint32_t>(blocks.size());
  }

  MALLARD_NOINLINE void notice(segment& s) noexcept override {
    if (s.state == full) {
      s.state = listed;
      s.left = s.capacity - frees_until_listed(s);
      return list(s, listed_);
    }
    if (s.state == listed || s.state == begun) {
      unlist(s, s.state == listed ? listed_ : begun_);
      return give_slab(s);
    }
    if (s.state == busy && !keeps_last_) {
      set_current(s.index, &no_slab);
      return give_slab(s);
    }
    s.state = quiet;
    s.left = 1;
    // Of few blocks to a page, the one that was in use last is worth more than an order.
    if (s.size > small && listed_[s.index] == 0) return;
    s.carved = 0;
    s.free = nullptr;
    s.is_zero = false;
    given_pages::reset(s);
  }

  // Gives slabs without live blocks back until at most `keep` bytes of them are held; returns the bytes.
  // O(slabs).
  std::size_t trim(std::size_t keep) noexcept {
    std::size_t empty = 0;
    std::size_t given = 0;
    for (number i = slabs_; i != 0;) {
      segment& s = *from_.at(i);
      i = s.older;
      if (used(s) != 0 || (empty += slab_bytes_) <= keep) continue;
      set_current(s.index, &no_slab);  // only that may be empty
      give_slab(s);
      given += slab_bytes_;
    }
    if (keep == 0) give_pages();
    return given;
  }

  // Gives back the pages between the blocks of slabs that few blocks keep, as it does where these grow by new
  // memory. O(slabs).
  MALLARD_NOINLINE void give_pages() noexcept {
    std::uint32_t count = 0;
    for (number i = slabs_; i != 0; i = from_.at(i)->older, ++count) {
      segment& s = *from_.at(i);
      if ((s.state == listed || s.state == begun) && given_pages::is_sparse(s, used(s)))
        given_pages::give(s, from_.start_of(&s), used(s));
    }
    new_slabs_until_look_ = std::max(least_new_slabs, count / 8);
  }

  // Ends all blocks. O(slabs).
  void release() noexcept {
    while (slabs_ != 0) give_slab(*from_.at(slabs_));
    current_small_.fill(&no_slab);
    current_.fill(&no_slab);
    listed_.fill(0);
    begun_.fill(0);
  }

  [[nodiscard]] heap_usage usage() const noexcept {
    heap_usage result;
    for (number i = slabs_; i != 0; i = from_.at(i)->older) {
      result.held += slab_bytes_;
      result.granted += used(*from_.at(i)) * from_.at(i)->size;
    }
    result.carved = result.granted;
    return result;
  }

  // Calls f(class size, slabs, bytes of these, blocks in use) for each class that has a slab. Approximate, if
  // the heap is in use: a slab may become one of other heaps meanwhile.
  template <class F>
  void for_each_class(F f) const noexcept {
    std::array<std::size_t, classes::count> blocks{};
    for (number i = slabs_; i != 0; i = from_.at(i)->older) {
      const std::size_t index = from_.at(i)->index;
      if (index < classes::count) blocks[index] += used(*from_.at(i));
    }
    for (std::size_t i = 0; i != classes::count; ++i) {
      const std::size_t slabs = slab_counts_[i];
      if (slabs != 0) f(classes::size(i), slabs, slabs * slab_bytes_, blocks[i]);
    }
  }

  // O(slabs + free blocks).
  [[nodiscard]] violation validate() const noexcept {
    std::array<std::uint32_t, classes::count> slabs{};
    for (number i = slabs_; i != 0; i = from_.at(i)->older) {
      const segment& s = *from_.at(i);
      if (s.use != segment_use::slab || s.owner != owner_ || s.keeper != this || s.index >= classes::count)
        return {"segment_slabs: a slab is none of these"};
      ++slabs[s.index];
      if (violation v = validate_slab(s)) return v;
    }
    if (slabs != slab_counts_) return {"segment_slabs: slabs do not add up to what is counted"};
    for (std::size_t i = 0; i != classes::count; ++i) {
      for (const auto& [first, state] : {std::pair(listed_[i], listed), std::pair(begun_[i], begun)}) {
        number previous = 0;
        for (number n = first; n != 0; previous = std::exchange(n, from_.at(n)->next))
          if (slabs[i]-- == 0 || from_.at(n)->index != i || from_.at(n)->state != state ||
              from_.at(n)->previous != previous)
            return {"segment_slabs: a slab is listed wrongly"};
      }
    }
    return {};
  }

 private:
  using number = typename Segments::number;
  using class_lists = std::array<number, classes::count>;

  static constexpr std::size_t page = 4096;
  using given_pages = slab_pages<Segments>;
  static constexpr std::size_t small_classes = classes::index(small, 1) + 1;
  // Slabs of a class from which on the pages of a new one are provided all at once, a 64th of its memory:
  // that takes a fifth of the time of faults page by page.
  static constexpr std::uint32_t slabs_until_populated = 16;
  // Slabs of new memory after which pages between blocks are looked for, or an eighth of all.
  static constexpr std::uint32_t least_new_slabs = 32;

  // What `left` counts: frees until no block is in use and one more; until none is; the same of a slab in a
  // list of those with free blocks, or with room for new ones; until a full slab has a sixteenth free.
  enum slab_state : std::uint8_t { quiet, busy, listed, begun, full };

  // Stands for a slab where a class has none. Never written to.
  static inline constinit segment no_slab;

  static constexpr std::uint32_t frees_until_listed(const segment& s) noexcept {
    return std::max(s.capacity / 16u, 1u);
  }

  [[nodiscard]] MALLARD_INLINE static void* pop(segment& s) noexcept {
    void* const p = s.free;
    if (p == nullptr) [[unlikely]]
      return nullptr;
    s.free = *static_cast<void**>(p);
    ++s.left;
    return p;
  }

  [[nodiscard]] static std::size_t used(const segment& s) noexcept {
    if (s.state == full) return s.capacity - (frees_until_listed(s) - s.left);
    return s.left - (s.state == quiet ? 1u : 0u);
  }

  [[nodiscard]] segment*& current(std::size_t index) noexcept {
    return index < small_classes ? current_small_[classes::size(index) / classes::step]
                                 : current_[index - small_classes];
  }

  void set_current(std::size_t index, segment* s) noexcept {
    if (index >= small_classes) {
      current_[index - small_classes] = s;
      return;
    }
    const std::size_t below = index == 0 ? 0 : classes::size(index - 1) / classes::step + 1;
    std::fill(current_small_.begin() + static_cast<std::ptrdiff_t>(below),
              current_small_.begin() + static_cast<std::ptrdiff_t>(classes::size(index) / classes::step + 1),
              s);
  }

  // The slab to go on with where `s` has no free block: one that has, or room for new ones.
  segment* next_slab(std::size_t index, segment& s) noexcept {
    if (const number first = listed_[index]; first != 0) {
      segment& found = *from_.at(first);
      unlist(found, listed_);
      found.state = busy;
      return &found;
    }
    if (has_room(s)) return &s;
    if (const number first = begun_[index]; first != 0) {
      segment& found = *from_.at(first);
      unlist(found, begun_);
      found.state = busy;
      return &found;
    }
    return new_slab(index);
  }

  segment* new_slab(std::size_t index) noexcept {
    const bool is_whole = slab_bytes_ == Segments::segment_bytes;
    segment* const s = is_whole ? from_.take(1, segment_use::slab) : from_.take_part();
    if (s == nullptr) return nullptr;
    if (s->is_zero && --new_slabs_until_look_ == 0) give_pages();
    const std::size_t size = classes::size(index);
    s->free = nullptr;
    s->left = 1;
    s->carved = 0;
    s->capacity = static_cast<std::uint16_t>(slab_bytes_ / size);
    s->owner = owner_;
    s->keeper = this;
    s->size = static_cast<std::uint32_t>(size);
    s->index = static_cast<std::uint8_t>(index);
    s->state = quiet;
    given_pages::reset(*s);
    from_.link(s, slabs_);
    if (++slab_counts_[index] > slabs_until_populated && s->is_zero)
      os_pages::populate(from_.start_of(s), slab_bytes_);
    return s;
  }

  void give_slab(segment& s) noexcept {
    --slab_counts_[s.index];
    from_.unlink(&s, slabs_);
    from_.give_back(&s, s.is_zero && s.carved == 0 ? 0 : 1);
  }

  // A slab without a free block at hand, that is no longer current.
  void put_aside(segment& s) noexcept {
    if (s.capacity == 0) return;  // no_slab
    given_pages::look_again(s);
    if (!has_room(s)) {
      s.state = full;
      s.left = frees_until_listed(s);
      return;
    }
    if (s.state == quiet) --s.left;
    if (s.left == 0) return give_slab(s);
    s.state = begun;
    list(s, begun_);
  }

  // Whether there is memory for blocks that are in no list.
  [[nodiscard]] static bool has_room(const segment& s) noexcept {
    return s.carved != s.capacity || given_pages::any(s);
  }

  // New blocks, as many as lie in the page or pages of the first one, which it returns.
  void* carve(segment& s) noexcept {
    if (given_pages::any(s)) {
      const auto again = given_pages::take(s);
      return link_blocks(s, again.first, again.size());
    }
    const std::size_t size = s.size;
    const std::size_t at = s.carved * size;
    const std::size_t end = align_up(at + size, page);
    const std::size_t count = std::min<std::size_t>((end - at) / size, s.capacity - s.carved);
    void* const first = link_blocks(s, s.carved, count);
    s.carved = static_cast<std::uint16_t>(s.carved + count);
    if (s.state == quiet && s.carved * size > page) {
      s.state = busy;
      --s.left;
    }
    return first;
  }

  // The first of `count` blocks from number `from` on; the others are free.
  void* link_blocks(segment& s, std::size_t from, std::size_t count) noexcept {
    const std::size_t size = s.size;
    std::byte* const first = from_.start_of(&s) + from * size;
    std::byte* const last = first + (count - 1) * size;
    if (count != 1) {
      for (std::byte* p = first + size; p != last; p += size) *reinterpret_cast<void**>(p) = p + size;
      *reinterpret_cast<void**>(last) = nullptr;
      s.free = first + size;
    }
    ++s.left;
    return first;
  }

  void list(segment& s, class_lists& lists) noexcept {
    number& first = lists[s.index];
    s.previous = 0;
    s.next = first;
    if (first != 0) from_.at(first)->previous = from_.number_of(&s);
    first = from_.number_of(&s);
  }
  void unlist(segment& s, class_lists& lists) noexcept {
    (s.previous == 0 ? lists[s.index] : from_.at(s.previous)->next) = s.next;
    if (s.next != 0) from_.at(s.next)->previous = s.previous;
  }

  [[nodiscard]] violation validate_slab(const segment& s) const noexcept {
    const std::byte* const start = from_.start_of(&s);
    std::size_t free = 0;
    for (const void* p = s.free; p != nullptr; p = *static_cast<void* const*>(p), ++free) {
      const auto at = static_cast<std::size_t>(static_cast<const std::byte*>(p) - start);
      if (at >= s.carved * std::size_t{s.size} || at % s.size != 0)
        return {"segment_slabs: a free block is none of its slab's"};
      if (free == s.carved) return {"segment_slabs: more blocks are free than there are: a circle"};
    }
    if (s.size != classes::size(s.index) || used(s) + free + given_pages::blocks(s) != s.carved)
      return {"segment_slabs: a slab's counts contradict its free blocks"};
    return {};
  }

  std::array<segment*, small / classes::step + 1> current_small_ = filled<small / classes::step + 1>();
  std::array<segment*, classes::count - small_classes> current_ = filled<classes::count - small_classes>();
  Segments& from_;
  const void* owner_;
  const bool keeps_last_;
  const std::uint32_t slab_bytes_;
  number slabs_ = 0;      // all of them
  class_lists listed_{};  // slabs with free blocks
  class_lists begun_{};   // slabs with room for new ones
  std::uint32_t new_slabs_until_look_ = least_new_slabs;
  std::array<std::uint32_t, classes::count> slab_counts_{};

  template <std::size_t Count>
  static constexpr std::array<segment*, Count> filled() noexcept {
    std::array<segment*, Count> result{};
    result.fill(&no_slab);
    return result;
  }
};

}  // namespace mallard
