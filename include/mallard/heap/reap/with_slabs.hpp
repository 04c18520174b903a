// with_slabs<Heap, LeastSlabs>: a heap with boundary tags whose small blocks lie in slabs once it has grown.
//
//     up to 1008 bytes   magazine --> slabs     [tag| slab ][tag| slab ]  blocks of Heap's, no tags inside
//     up to 32 KiB       recent_large --> Heap  [tag| b ][tag| b ][tag| free ]
//     larger, and all before the heap holds LeastSlabs bytes        --> Heap
//
// A free that joins neighbours reads three tags, most of them in no cache, and its block serves the next
// request of its size wherever it lies. Here a free of a small block puts its address into a magazine
// (layer/hosted_slabs.hpp): the address tells whether the block lies in a slab, and the slab tells its size.
// Large ones wait in stacks for a request of their size, as long as they are at most a 16th of what is held.
// Slabs without a block give way to large requests, and to trim(). A block in a slab does not grow in place
// beyond its size class, a multiple of 16 bytes. While more than a 32nd of what is held is free outside
// slabs, that is used before new chunks for slabs, so that what was allocated before there were slabs does
// not stay behind. For clear_optimized: allocate() is for what allocate_recent() does not serve, and
// begin_slabs() is called in between where blocks come and go. Invariant: blocks that wait count as used in
// Heap. Cost: a pair of small blocks as in multipool and some 10 instructions for the set of slabs. Not
// synchronised. Seed 003, chapter 3 (mallocs with free blocks for each page).
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <new>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/boundary_tag.hpp"
#include "mallard/core/chain.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/magazine.hpp"
#include "mallard/core/resize.hpp"
#include "mallard/core/size_classes.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/heap/reap/recent_large.hpp"
#include "mallard/layer/address_ranges.hpp"
#include "mallard/layer/hosted_slabs.hpp"

namespace mallard {

// Heap: as basic_best_fit.
template <layered Heap, std::size_t LeastSlabs>
  requires freeable<Heap> && resizable<Heap> && burst_of_sizes<Heap> && clearable<Heap> && inspectable<Heap>
class with_slabs : private Heap {
 public:
  using typename Heap::upstream_type;

  template <class... Args>
    requires std::constructible_from<Heap, Args...>
  explicit with_slabs(Args&&... args) : Heap(std::forward<Args>(args)...) {}
  with_slabs(const with_slabs&) = delete;
  with_slabs& operator=(const with_slabs&) = delete;
  ~with_slabs() { validate_slabs(); }

  using Heap::close_first_chunk;
  using Heap::largest;
  using Heap::owns;
  using Heap::put_rest;
  using Heap::take_first_chunk;
  using Heap::take_rest;
  using Heap::upstream;
  using Heap::ways;

  // A block that was freed recently; null if there is none. It neither carves nor coalesces.
  [[nodiscard]] MALLARD_INLINE block allocate_recent(std::size_t size, std::size_t align) noexcept {
    if (grown_ != nullptr && is_small(size, align)) {
      const std::size_t whole = rounded(size);
      if (void* const p = grown_->small.allocate(whole, align); p != nullptr) return {p, whole};
    }
    return Heap::allocate_recent(size, align);
  }

  // What allocate_recent() does not serve.
  [[nodiscard]] block allocate(std::size_t size, std::size_t align) noexcept {
    return grown_ == nullptr ? Heap::allocate(size, align) : allocate_grown(size, align);
  }

  [[nodiscard]] bool allocate_burst(chain& out, std::size_t count, std::size_t size, std::size_t align,
                                    std::size_t contiguous) noexcept {
    return Heap::allocate_burst(out, count, size, align, contiguous) ||
           (give_waiting_back() && Heap::allocate_burst(out, count, size, align, contiguous));
  }

  [[nodiscard]] bool allocate_burst(chain& out, const std::size_t* lengths, std::size_t count,
                                    std::size_t unit, std::size_t align, std::size_t contiguous) noexcept {
    return Heap::allocate_burst(out, lengths, count, unit, align, contiguous) ||
           (give_waiting_back() && Heap::allocate_burst(out, lengths, count, unit, align, contiguous));
  }

  MALLARD_INLINE void deallocate(void* p) noexcept {
    if (grown_ == nullptr) return Heap::deallocate(p);
    if (!grown_->small.has(p)) return deallocate_outside(p);
    grown_->small.deallocate(p, slabs::size_at(p));
  }

  MALLARD_INLINE void deallocate(void* p, std::size_t size, std::size_t) noexcept {
    if (grown_ == nullptr) return Heap::deallocate(p);
    if (!grown_->small.has(p)) return deallocate_outside(p);
    grown_->small.deallocate(p, rounded(size));
  }

  void deallocate_burst(chain& blocks) noexcept {
    if (grown_ == nullptr) return Heap::deallocate_burst(blocks);
    chain outside;
    while (!blocks.empty()) {
      void* const p = blocks.pop_front();
      grown_->small.has(p) ? grown_->small.deallocate(p, slabs::size_at(p)) : outside.push_back(p);
    }
    Heap::deallocate_burst(outside);
  }

  [[nodiscard]] std::size_t usable_size(const void* p) const noexcept {
    return is_in_slab(p) ? slabs::size_at(p) : Heap::usable_size(p);
  }

  [[nodiscard]] MALLARD_INLINE resize_result resize(const resize_request& request) noexcept {
    return grown_ == nullptr ? Heap::resize(request) : resize_grown(request);
  }

  // As Heap's, for a block that may lie in a slab.
  [[nodiscard]] boundary_tag* take_rest_behind(void* p) noexcept {
    return is_in_slab(p) ? nullptr : Heap::take_rest_behind(p);
  }

  // If the heap has grown: small blocks come from slabs from now on, as long as there is memory.
  void begin_slabs() noexcept {
    if (grown_ != nullptr || Heap::held() < LeastSlabs || largest < least_largest) return;
    if (without_slabs_.lasts()) return;
    const block place = Heap::allocate(sizeof(grown), boundary_tag::granule);
    if (place)
      grown_ = ::new (place.data) grown(*this);
    else
      without_slabs_.begin();
  }

  void clear() noexcept {
    forget();
    Heap::clear();
  }

  void release() noexcept {
    forget();
    Heap::release();
  }

  // O(slabs) beside Heap's.
  std::size_t trim(std::size_t keep) noexcept {
    const std::size_t before = Heap::held();
    (void)give_waiting_back();
    without_slabs_.end();
    const std::size_t given_back = before - Heap::held();
    return given_back + Heap::trim(keep);
  }

  // O(slabs) beside Heap's.
  [[nodiscard]] heap_usage usage() const noexcept {
    heap_usage found = Heap::usage();
    if (grown_ == nullptr) return found;
    const std::size_t unused = grown_->small.unused() + Heap::usable_size(grown_);
    const std::size_t unused_tags = (grown_->small.host_blocks() + 1) * boundary_tag::overhead;
    const std::size_t waiting_tags = grown_->large.count() * boundary_tag::overhead;
    found.granted -= unused + grown_->large.bytes() - waiting_tags;
    found.carved -= unused + unused_tags + grown_->large.bytes();
    return found;
  }

  // O(slabs + blocks that wait) beside Heap's, in the memory of address_ranges.
  [[nodiscard]] violation validate() const noexcept {
    if (violation v = Heap::validate()) return v;
    if (grown_ == nullptr) return {};
    const address_ranges inside = Heap::chunk_ranges();
    const bool is_whole = grown_->large.each(
        [&](const boundary_tag* b) { return inside.contains(b, boundary_tag::granule) && b->is_used(); });
    if (!is_whole) return {"with_slabs: a block freed a moment ago is none of the heap's"};
    return grown_->small.validate(inside);
  }

 private:
  static constexpr std::size_t limit = 1024;  // sizes of blocks in slabs are smaller
  using slabs = hosted_slabs<with_slabs, boundary_tag::granule, limit, boundary_tag::overhead,
                             std::min(LeastSlabs, std::size_t{16} << 10)>;
  friend slabs;

  struct grown {
    explicit grown(with_slabs& heap) noexcept : small(heap) {}
    slabs small;
    recent_large large;
  };

  // A heap that serves no requests of this many bytes from its chunks has no slabs either.
  static constexpr std::size_t least_largest = 2 * large_sizes::largest;

  // Bytes of large blocks, and of slabs without a block, that may wait in any case.
  static constexpr std::size_t least_waiting = std::size_t{64} << 10;

  [[nodiscard]] static constexpr bool is_small(std::size_t size, std::size_t align) noexcept {
    return size <= limit - boundary_tag::granule && align <= boundary_tag::granule;
  }
  [[nodiscard]] static constexpr std::size_t rounded(std::size_t size) noexcept {
    return align_up(size + static_cast<std::size_t>(size == 0), boundary_tag::granule);
  }

  [[nodiscard]] MALLARD_INLINE bool is_in_slab(const void* p) const noexcept {
    return grown_ != nullptr && grown_->small.has(p);
  }

  MALLARD_NOINLINE block allocate_grown(std::size_t size, std::size_t align) noexcept {
    if (is_small(size, align)) {
      const std::size_t whole = rounded(size);
      if (void* const p = grown_->small.refill(whole, align); p != nullptr) return {p, whole};
    } else if (size > limit - boundary_tag::granule &&
               size <= large_sizes::largest - boundary_tag::overhead) {
      const std::size_t whole = large_sizes::rounded(size + boundary_tag::overhead);
      if (boundary_tag* const b = grown_->large.take(whole, align); b != nullptr)
        return {b->data(), b->usable()};
      give_idle_back(whole, align);
      if (const block b = Heap::allocate(whole - boundary_tag::overhead, align)) return b;
    }
    const block b = Heap::allocate(size, align);
    return b || size > max_request || !give_waiting_back() ? b : Heap::allocate(size, align);
  }

  MALLARD_NOINLINE void deallocate_outside(void* p) noexcept {
    boundary_tag* const b = boundary_tag::of(p);
    if (b->is_from_elsewhere() || !recent_large::takes(b->size())) return Heap::deallocate(p);
    grown_->large.put(b);
    if (grown_->large.bytes() > std::max(least_waiting, Heap::held() / 16)) give_recent_back();
  }

  resize_result resize_grown(const resize_request& request) noexcept {
    if (grown_->small.has(request.data)) return resize_in_slab(request);
    const resize_result resized = Heap::resize(request);
    if (resized.memory) return resized;
    const bool may_move = has_way(request.ways, resize_way::allocate_new);
    if (request.limit > max_request || !(may_move ? give_waiting_back() : give_recent_back())) return resized;
    return Heap::resize(request);
  }

  resize_result resize_in_slab(const resize_request& request) noexcept {
    const std::size_t usable = slabs::size_at(request.data);
    if (has_way(request.ways, resize_way::shrink | resize_way::try_shrink)) {
      const bool may_stay = has_way(request.ways, resize_way::try_shrink) || usable <= request.limit;
      return may_stay ? resize_result{{request.data, usable}, true} : resize_result{};
    }
    if (request.limit <= usable &&
        has_way(request.ways, resize_way::expand_forward | resize_way::expand_backward))
      return {{request.data, usable}, true};
    if (request.limit > max_request || !has_way(request.ways, resize_way::allocate_new)) return {};
    block anew = allocate_any(std::clamp(request.preferred, request.limit, max_request), request.align);
    if (!anew) anew = allocate_any(request.limit, request.align);
    return {anew, false};
  }

  block allocate_any(std::size_t size, std::size_t align) noexcept {
    if (const block b = allocate_recent(size, align)) return b;
    return allocate(size, align);
  }

  // Slabs without a block give way to a large request that would take a new chunk.
  void give_idle_back(std::size_t whole, std::size_t align) noexcept {
    if (grown_->small.idle() > std::max(least_waiting, Heap::held() / 16) && !Heap::has_room(1, whole, align))
      grown_->small.give_back();
  }

  // Coalesces the large blocks that wait; whether there were any.
  bool give_recent_back() noexcept {
    if (grown_->large.count() == 0) return false;
    grown_->large.take_all([this](boundary_tag* b) { Heap::deallocate(b->data()); });
    return true;
  }

  // And all small ones, and ends the slabs if none is in use; false if there are none.
  bool give_waiting_back() noexcept {
    if (grown_ == nullptr) return false;
    (void)give_recent_back();
    if (grown_->small.trim()) {
      Heap::deallocate(std::exchange(grown_, nullptr));
      without_slabs_.begin();
    }
    return true;
  }

  void forget() noexcept {
    validate_slabs();
    grown_ = nullptr;
  }

  // Heap validates the rest.
  void validate_slabs() const noexcept {
    if (grown_ != nullptr) MALLARD_VALIDATE();
  }

  // What hosted_slabs asks of its host.
  block take_memory(std::size_t bytes) noexcept { return Heap::allocate(bytes, boundary_tag::granule); }
  std::size_t put_memory(void* p, std::size_t) noexcept {
    const std::size_t size = Heap::usable_size(p);
    Heap::deallocate(p);
    return size;
  }
  void take_slabs(chain& out, std::size_t count) noexcept {
    constexpr std::size_t size = slabs::slab_size - boundary_tag::overhead;
    count = slabs::at_once(Heap::held(), count);
    std::size_t fits = count;
    while (fits != 0 && !Heap::has_room(fits, slabs::slab_size, slabs::slab_size)) fits /= 2;
    if (fits == 0 && Heap::free_bytes() > Heap::held() / 32) return;
    if (fits != 0) count = fits;
    (void)Heap::allocate_burst(out, count, size, slabs::slab_size, count * slabs::slab_size);
  }
  void put_slab(void* p) noexcept { Heap::deallocate(p); }

  // A magazine never has a block that is in no slab.
  static std::size_t take_outside(std::size_t, magazine::slot*, std::size_t) noexcept { return 0; }
  void put_outside(void* p, std::size_t) noexcept { Heap::deallocate(p); }

  grown* grown_ = nullptr;
  respite without_slabs_;  // after memory was short
};

}  // namespace mallard
