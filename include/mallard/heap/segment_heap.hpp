// segment_heap: a general heap of slabs and spans of segments, which it shares with all other heaps.
//
//     up to 32 KiB -->  slabs, a size class each   (layer/segment_slabs.hpp) --+
//     larger       -->  spans of segments, which grow in place               --+--> segments, of the process
//
// A block is found from its address alone: the table of segments tells whose it is, and how large. So blocks
// have no headers, and a heap among a thousand is found as fast as one alone. The heaps of a process share
// what is free, segment by segment, whatever sizes it had. Blocks of more than 32 KiB are spans of their own,
// which grow where what follows is free, and give back what they lose.
//
// Threads: a heap has one owner at a time. Other threads may free its blocks, without a lock: a heap collects
// the blocks of one other heap in a batch of 32, and passes them on by one compare-and-swap. The largest
// blocks of a batch carry the addresses of the others, so the processor that has those in its cache keeps
// them there. The owner takes back what it has received when a class has no free block at hand, when it
// allocates a large block or passes a batch on. Otherwise what its heap has received waits there. It holds
// nothing until first used, 2.1 KiB itself; then a page for each class in use, what its blocks take, and at
// most 15/16 of each full slab. Memory that it has given back stays with the process for half a second, for
// any heap (source/segments.hpp). Cost of a pair of up to 1 KiB: about 26 instructions; of a larger one 40,
// of one of more than 32 KiB 250 to 700. All operations are O(1), beside blocks that are taken back, except
// those that end or inspect all. Seed 003, chapter 3 (pages with lists of their own); seed 002 (heaps that
// end as a whole).
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/magazine.hpp"
#include "mallard/core/resize.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/layer/segment_slabs.hpp"
#include "mallard/source/process_segments.hpp"
#include "mallard/source/segments.hpp"
#include "mallard/thread/returned_blocks.hpp"

namespace mallard {

// Is never ended: for a heap that outlives all code, as that of a malloc does.
template <class Segments>
class lasting_segment_heap {
 public:
  using slabs = segment_slabs<Segments>;
  using classes = typename slabs::classes;
  static constexpr std::size_t small = slabs::small;

  explicit constexpr lasting_segment_heap(Segments& from) noexcept : slabs_(from, this), from_(from) {}
  lasting_segment_heap(const lasting_segment_heap&) = delete;
  lasting_segment_heap& operator=(const lasting_segment_heap&) = delete;

  [[nodiscard]] MALLARD_INLINE block allocate(std::size_t size, std::size_t align) noexcept {
    MALLARD_CHECK(is_valid_align(align));
    if (size <= small && align <= classes::step) [[likely]]
      if (void* const p = slabs_.take_at_hand(size); p != nullptr) [[likely]]
        return {p, classes::size(classes::small_index(size + static_cast<std::size_t>(size == 0), 1))};
    return allocate_slow(size, align);
  }

  // What a malloc inlines: a free block of at least `size` bytes, at most `small`; null if none is at hand.
  [[nodiscard]] MALLARD_INLINE void* take_at_hand(std::size_t size) noexcept {
    return slabs_.take_at_hand(size);
  }
  // The same for at most classes::largest bytes.
  [[nodiscard]] MALLARD_INLINE void* take_of_class_for(std::size_t size) noexcept {
    return slabs_.take_of_class(classes::index(size, 1));
  }
  // Whether a segment is a slab of this heap, and ends a block in it.
  [[nodiscard]] MALLARD_INLINE bool owns_slab(const segment& s) const noexcept { return s.owner == this; }
  MALLARD_INLINE void deallocate(segment& s, void* p) noexcept { slabs::free(s, p); }

  // The heap's own slabs. Others with this heap as their owner may exist beside them: their blocks are freed
  // and returned as its own are.
  [[nodiscard]] slabs& own_slabs() noexcept { return slabs_; }

  // A block of at most classes::largest bytes from such slabs, where none is at hand; null when there is no
  // memory.
  [[nodiscard]] MALLARD_NOINLINE void* allocate_from(slabs& from, std::size_t index) noexcept {
    void* p = from.take_of_class(index);
    if (p == nullptr) {
      send_batch();
      collect();
      p = from.take_of_class(index);
      if (p == nullptr) p = from.refill(index);
    }
    return p;
  }

  void deallocate(void* p, std::size_t, std::size_t) noexcept { deallocate(p); }
  MALLARD_INLINE void deallocate(void* p) noexcept {
    segment* const s = from_.find(p);
    MALLARD_CHECK(s != nullptr && s->use >= segment_use::slab && s->use != segment_use::foreign);
    if (owns_slab(*s)) [[likely]]
      return deallocate(*s, p);
    end_outside(*s, p);
  }

  // A block in a segment that is not a slab of this heap. A part of the segment may be one.
  MALLARD_NOINLINE void end_outside(segment& s, void* p) noexcept {
    segment& in = s.use == segment_use::split ? *from_.find_part(p) : s;
    owns_slab(in) ? deallocate(in, p) : end_elsewhere(in, p);
  }

  // A block that is in none of this heap's slabs: large, or another heap's, to which it returns in a batch.
  MALLARD_NOINLINE void end_elsewhere(segment& s, void* p) noexcept {
    if (s.use == segment_use::large) return from_.give_back(&s, segments_for(s.bytes));
    auto* const to = static_cast<lasting_segment_heap*>(const_cast<void*>(s.owner));
    if (to != batch_to_) {
      send_batch();
      batch_to_ = to;
    }
    batch_[batch_count_] = address_of(p);
    if (s.size > largest_in_batch_) {
      largest_in_batch_ = s.size;
      std::swap(batch_.front(), batch_[batch_count_]);
    }
    if (++batch_count_ != batch_.size()) return;
    send_batch();
    collect();
  }

  // Blocks of others that wait to be returned go to their heaps, which must not have ended. The largest one,
  // which comes first, carries the addresses of as many others as it has room for; those are not touched.
  MALLARD_NOINLINE void send_batch() noexcept {
    if (batch_to_ == nullptr) return;
    carried_blocks all;
    for (std::span<slot> left(batch_.data(), batch_count_); !left.empty();) {
      const std::size_t size = from_.find_part(reinterpret_cast<void*>(left.front()))->size;
      const std::size_t count = std::min(left.size(), carried_blocks::capacity(size) + 1);
      std::swap(left.front(), left[count - 1]);
      all.push(left.first(count), size);
      left = left.subspan(count);
    }
    batch_to_->received_.push(all);
    batch_to_ = nullptr;
    batch_count_ = 0;
    largest_in_batch_ = 0;
  }

  // Takes back a block of this heap: from any thread, at any time; without a lock, unless the block is large.
  void receive(void* p) noexcept {
    if (segment* const s = from_.find_part(p); s->use == segment_use::large) return end_elsewhere(*s, p);
    const slot one = address_of(p);
    carried_blocks all;
    all.push({&one, 1}, carried_blocks::least_block);
    received_.push(all);
  }

  // Frees what others have ended. O(blocks).
  MALLARD_INLINE void collect() noexcept {
    if (!received_.empty()) [[unlikely]]
      collect_all();
  }

  [[nodiscard]] std::size_t usable_size(const void* p) const noexcept {
    const segment* const s = from_.find_part(p);
    MALLARD_CHECK(s != nullptr);
    return s->use == segment_use::large ? s->bytes : s->size;
  }

  [[nodiscard]] std::size_t received_size(std::size_t size, std::size_t align) const noexcept {
    if (serves(size, align)) return classes::size(classes::index(size, align));
    if (size > max_request - page || align > max_request) return 0;
    return align_up(size == 0 ? 1 : size, page);
  }

  // A span of its own, whose `is_zero` tells whether it need not be cleared. `room`: bytes of addresses
  // behind it to grow into, if they can be had.
  [[nodiscard]] MALLARD_NOINLINE segment* allocate_large(std::size_t size, std::size_t align,
                                                         std::size_t room = 0) noexcept {
    if (size > max_request - page - room || align > max_request) return nullptr;
    collect();
    const std::size_t bytes = align_up(size == 0 ? 1 : size, page);
    segment* s = from_.take(segments_for(bytes + room), segment_use::large, align, &large_, room == 0);
    if (s == nullptr && room != 0) s = from_.take(segments_for(bytes), segment_use::large, align, &large_);
    if (s != nullptr) s->bytes = bytes;
    return s;
  }

  static constexpr resize_way ways =
      resize_way::expand_forward | resize_way::allocate_new | resize_way::shrink | resize_way::try_shrink;

  // Large blocks grow and shrink in place; of others only what their class has room for.
  [[nodiscard]] resize_result resize(const resize_request& request) noexcept {
    segment* const s = from_.find_part(request.data);
    const std::size_t usable = usable_size(request.data);
    if (has_way(request.ways, resize_way::shrink | resize_way::try_shrink)) {
      const std::size_t least =
          align_up(request.preferred + static_cast<std::size_t>(request.preferred == 0), page);
      const std::size_t size = s->use == segment_use::large ? std::min(usable, least) : usable;
      if (size > request.limit && !has_way(request.ways, resize_way::try_shrink)) return {};
      if (size != usable) shrink(*s, size);
      return {{request.data, size}, true};
    }
    if (has_way(request.ways, resize_way::expand_forward)) {
      if (usable >= request.preferred || grow(*s, request.preferred) || usable >= request.limit ||
          grow(*s, request.limit))
        return {{request.data, usable_size(request.data)}, true};
    }
    if (!has_way(request.ways, resize_way::allocate_new)) return {};
    block fresh = allocate(request.preferred, request.align);
    if (!fresh) fresh = allocate(request.limit, request.align);
    return {fresh, false};
  }

  [[nodiscard]] bool owns(const void* p) const noexcept {
    const segment* const s = from_.find_part(p);
    if (s == nullptr) return false;
    if (owns_slab(*s)) return true;
    bool is_own = false;
    for_each_large([&](const segment& l) { is_own |= from_.number_of(s) - from_.number_of(&l) < l.length; });
    return is_own;
  }

  // Gives segments without live blocks back until at most `keep` bytes of them are held. O(slabs).
  std::size_t trim(std::size_t keep) noexcept {
    send_batch();
    collect();
    return slabs_.trim(keep);
  }

  // Ends all blocks. Precondition: no other heap has a batch of them; one that has ended some has called
  // send_batch() since. O(segments).
  void release() noexcept {
    MALLARD_VALIDATE();
    send_batch();
    received_.clear();
    slabs_.release();
    while (large_ != 0) from_.give_back(from_.at(large_), segments_for(from_.at(large_)->bytes));
  }

  [[nodiscard]] heap_usage usage() const noexcept {
    heap_usage result = slabs_.usage();
    for_each_large([&](const segment& s) {
      result.held += s.length * Segments::segment_bytes;
      result.carved += s.bytes;
      result.granted += s.bytes;
    });
    return result;
  }

  // Calls f(class size, slabs, bytes of these, blocks in use) for each class that has a slab. Approximate, if
  // the heap is in use.
  template <class F>
  void for_each_class(F f) const noexcept {
    slabs_.for_each_class(f);
  }

  // O(segments + free blocks).
  [[nodiscard]] violation validate() const noexcept {
    if (violation v = slabs_.validate()) return v;
    violation found;
    for_each_large([&](const segment& s) {
      if (s.use != segment_use::large || segments_for(s.bytes) > s.length)
        found = {"segment_heap: a large block is larger than its span"};
    });
    return found;
  }

 private:
  using number = typename Segments::number;
  using slot = magazine::slot;

  static constexpr std::size_t page = 4096;

  static constexpr bool serves(std::size_t size, std::size_t align) noexcept {
    return size <= classes::largest && align <= classes::largest;
  }
  static constexpr std::size_t segments_for(std::size_t bytes) noexcept {
    return (bytes + (Segments::segment_bytes - 1)) / Segments::segment_bytes;
  }

  MALLARD_NOINLINE block allocate_slow(std::size_t size, std::size_t align) noexcept {
    if (!serves(size, align)) {
      segment* const s = allocate_large(size, align);
      return s == nullptr ? block{} : block{from_.start_of(s), s->bytes};
    }
    const std::size_t index = classes::index(size, align);
    void* const p = allocate_from(slabs_, index);
    return p == nullptr ? block{} : block{p, classes::size(index)};
  }

  MALLARD_NOINLINE void collect_all() noexcept {
    carried_blocks taken;
    received_.take_all(taken);
    std::array<slot, 64> blocks;
    while (const std::size_t count = taken.take(blocks.data() + blocks.size(), blocks.size()))
      free_runs(std::span(blocks).last(count));
  }

  // Blocks of one slab that are adjacent here are freed together: threads that free its other blocks read
  // its entry.
  void free_runs(std::span<const slot> blocks) noexcept {
    while (!blocks.empty()) {
      segment* const s = from_.find_part(reinterpret_cast<void*>(blocks.front()));
      std::size_t count = 1;
      while (count != blocks.size() && from_.find_part(reinterpret_cast<void*>(blocks[count])) == s) ++count;
      slabs::free(*s, blocks.first(count));
      blocks = blocks.subspan(count);
    }
  }

  // Whether a large block has room for `size` bytes now.
  bool grow(segment& s, std::size_t size) noexcept {
    if (s.use != segment_use::large || size > max_request - page) return false;
    const std::size_t length = segments_for(size);
    if (length > s.length && !from_.grow(&s, length)) return false;
    s.bytes = std::max(s.bytes, align_up(size, page));
    return true;
  }

  // Makes a large block of `size` bytes, whole pages, less than it has.
  void shrink(segment& s, std::size_t size) noexcept {
    const std::size_t before = segments_for(s.bytes);
    const std::size_t length = segments_for(size);
    s.bytes = size;
    if (length < s.length) from_.shrink(&s, length, before - length);
  }

  template <class F>
  void for_each_large(F f) const noexcept {
    const auto guard = from_.lock();
    for (number i = large_; i != 0; i = from_.at(i)->older) f(*from_.at(i));
  }

  slabs slabs_;
  Segments& from_;
  number large_ = 0;                          // under the segments' lock
  lasting_segment_heap* batch_to_ = nullptr;  // where the blocks of the batch belong
  std::uint32_t batch_count_ = 0;
  std::uint32_t largest_in_batch_ = 0;  // bytes
  std::array<slot, 32> batch_{};
  alignas(cache_line) returned_blocks received_;  // written by others
};

template <class Segments = segments>
class basic_segment_heap : public lasting_segment_heap<Segments> {
 public:
  constexpr basic_segment_heap() noexcept
    requires std::same_as<Segments, segments>
      : basic_segment_heap(process_segments<Segments>()) {}
  explicit constexpr basic_segment_heap(Segments& from) noexcept : lasting_segment_heap<Segments>(from) {}
  ~basic_segment_heap() { this->release(); }
};

using segment_heap = basic_segment_heap<>;

template <>
inline constexpr std::string_view heap_name<segment_heap> = "segments";

}  // namespace mallard
