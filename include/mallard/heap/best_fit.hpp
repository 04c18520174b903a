// best_fit: a general heap with boundary tags that coalesces free blocks and resizes blocks in place.
//
//     up to 128 KiB   [tag| b ][tag| free ..... ][tag| b ][tag| b ][tag| free ]   chunks   --+
//     larger          node <-> node <-> node                                               --+--> Upstream
//
// A request is carved from the smallest sufficient free block, and freed blocks are coalesced with their
// neighbours, so memory freed in one size serves any other. The 16 KiB of small blocks freed most recently
// wait for the next request of their size before they are coalesced. A block has a tag of 8 bytes in front;
// with it, it is rounded up to a multiple of 16, at least 32. It can be freed by its pointer alone, grow
// forward and backward into free neighbours, shrink in place, and belong to a burst.
// Memory held in advance is at most a 64th of what is held, or 16 KiB, in the newest chunk, or the unused
// part of the first 128 KiB, which is mapped but not resident. A chunk without blocks returns to the upstream
// if otherwise more than a 64th of what is held, or 128 KiB, would be idle; trim() returns all of them. Large
// blocks return at once. clear() keeps the chunks. It holds nothing until first used. From 1 MiB on, up to
// 256 KiB of a chunk that the system has just mapped are populated in the request that needs it, which takes
// 20 to 100 us.
// Cost: O(1) for blocks below 1 KiB and O(log size) above, beside the upstream's and the coalescing of up to
// 512 blocks at a time; what ends all blocks or inspects them takes longer. Debug builds validate the whole
// heap in clear(), release(), trim() and the destructor. Seed 001, chapters 1 and 2.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/boundary_tag.hpp"
#include "mallard/core/burst.hpp"
#include "mallard/core/chain.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/growth.hpp"
#include "mallard/core/resize.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/heap/best_fit/carve_burst.hpp"
#include "mallard/heap/best_fit/coalesce.hpp"
#include "mallard/heap/best_fit/free_blocks.hpp"
#include "mallard/heap/best_fit/grow_in_place.hpp"
#include "mallard/layer/address_ranges.hpp"
#include "mallard/layer/live_list.hpp"
#include "mallard/source/default_source.hpp"
#include "mallard/source/upstream_ref.hpp"

namespace mallard {

// Requests above this many bytes pass through; half a page, the mean loss, is then 1.6 % of the block.
inline constexpr std::size_t best_fit_largest = std::size_t{128} << 10;

// The first chunk is as large as blocks can be, so that a block growing in a new heap stays in place until it
// passes through. Then steps of four pages, and a 64th of what is held, so that the unused rest of the newest
// chunk, half of that on average, stays small; 1 MiB at most, where the system call costs less than a
// hundredth of the chunk's page faults. Few sizes: otherwise a refilled heap would find a third of its pages
// new.
using best_fit_growth = beginning<best_fit_largest, in_few_sizes<proportional<16384, 16384, 64, 1048576>>>;

template <heap Upstream = default_source, growth_policy Growth = best_fit_growth,
          std::size_t Largest = best_fit_largest>
class basic_best_fit {
 public:
  using upstream_type = Upstream;

  template <class... Args>
    requires constructible_as_root<Upstream, Args...>
  explicit basic_best_fit(Args&&... args)
      : upstream_(std::forward<Args>(args)...), large_(upstream_), blocks_(upstream_) {}
  basic_best_fit(const basic_best_fit&) = delete;
  basic_best_fit& operator=(const basic_best_fit&) = delete;
  ~basic_best_fit() { MALLARD_VALIDATE(); }

  // Memory that is allocated from the upstream directly remains the caller's.
  [[nodiscard]] upstream_type& upstream() noexcept { return upstream_; }
  [[nodiscard]] const upstream_type& upstream() const noexcept { return upstream_; }

  [[nodiscard]] MALLARD_INLINE block allocate(std::size_t size, std::size_t align) noexcept {
    if (const block b = allocate_recent(size, align)) [[likely]]
      return b;
    return allocate_slow(size, align);
  }

  // A recently freed block; null if none of that size fits, though others might. It reads no other block.
  [[nodiscard]] MALLARD_INLINE block allocate_recent(std::size_t size, std::size_t align) noexcept {
    if (size <= largest_exact && align <= boundary_tag::granule) [[likely]] {
      const std::size_t whole = boundary_tag::block_size(size);
      if (boundary_tag* const b = blocks_.take_recent(whole); b != nullptr) [[likely]]
        return {b->data(), whole - boundary_tag::overhead};
    }
    return {};
  }

  MALLARD_INLINE void deallocate(void* p) noexcept {
    boundary_tag* const b = boundary_tag::of(p);
    if (b->is_plain_below(free_blocks::small)) [[likely]]
      return blocks_.give_plain(b);
    deallocate_slow(p);
  }

  MALLARD_INLINE void deallocate(void* p, std::size_t, std::size_t) noexcept { deallocate(p); }

  // Reads only the tag in front of the block, so its owner may call it while other threads are in the heap.
  [[nodiscard]] std::size_t usable_size(const void* p) const noexcept {
    const boundary_tag tag = boundary_tag::of(p)->seen();
    return tag.is_from_elsewhere() ? large_.usable_size(p) : tag.usable();
  }

  // --- the rest -------------------------------------------------------------------------------

  // The rest block, if it follows the live block at `p`: the caller carves it until put_rest(), and must not
  // call anything else until then. Null if it does not follow.
  [[nodiscard]] boundary_tag* take_rest_behind(void* p) noexcept {
    joined_blocks& blocks = blocks_.blocks();
    return boundary_tag::of(p)->next() == blocks.rest() ? blocks.take_rest() : nullptr;
  }

  // The same with a first chunk that has room for `size` bytes of blocks; null if there are chunks already,
  // or when exhausted. It writes only the chunk's start. close_first_chunk() must precede put_rest(), unless
  // clear(), release() or the destructor comes first.
  [[nodiscard]] boundary_tag* take_first_chunk(std::size_t size) noexcept {
    return blocks_.take_first_chunk(size);
  }
  void close_first_chunk() noexcept { blocks_.close_first_chunk(); }

  // The rest block, wherever it lies; null if there is none.
  [[nodiscard]] boundary_tag* take_rest() noexcept {
    joined_blocks& blocks = blocks_.blocks();
    return blocks.rest()->size() != 0 ? blocks.take_rest() : nullptr;
  }

  // Returns the last `size` bytes of what was taken, at least a block; a used block lies in front of them.
  void put_rest(boundary_tag* rest, std::size_t size) noexcept { blocks_.blocks().set_rest(rest, size); }

  // --- bursts ---------------------------------------------------------------------------------

  // Each run of adjacent blocks is carved from one free block. Blocks that pass through are not adjacent, and
  // aligned blocks are spaced by their alignment.
  [[nodiscard]] bool allocate_burst(chain& out, std::size_t count, std::size_t size, std::size_t align,
                                    std::size_t contiguous) noexcept {
    size = std::max(size, sizeof(void*));
    if (!is_ours(size, align)) return allocate_each(*this, out, count, size, align);
    chain taken;
    const std::size_t whole = align_up(boundary_tag::block_size(size), align);
    return finish_burst(out, taken, carve_burst(blocks_, taken, count, whole, align, contiguous));
  }

  [[nodiscard]] bool allocate_burst(chain& out, const std::size_t* lengths, std::size_t count,
                                    std::size_t unit, std::size_t align, std::size_t contiguous) noexcept {
    chain taken;
    for (std::size_t i = 0; i < count;) {
      const std::size_t size = linkable_size(lengths[i], unit);
      std::size_t in_run = 1;
      if (!is_ours(size, align)) {
        const block b = allocate_large(size, align);
        if (!b) return finish_burst(out, taken, false);
        taken.push_back(b.data);
      } else {
        in_run = carve_lengths(taken, lengths + i, count - i, unit, align, run_bytes(contiguous));
        if (in_run == 0) return finish_burst(out, taken, false);
      }
      i += in_run;
    }
    return finish_burst(out, taken, true);
  }

  void deallocate_burst(chain& blocks) noexcept {
    while (!blocks.empty()) {
      if (boundary_tag::of(blocks.front())->is_from_elsewhere()) {
        large_.deallocate(blocks.pop_front());
        continue;
      }
      const std::size_t left = blocks.size() - 1;
      boundary_tag* const joined = take_joined(blocks);
      blocks.size() == left ? blocks_.give(joined) : blocks_.give_joined(joined);
    }
  }

  void deallocate_burst(chain& blocks, std::size_t, std::size_t) noexcept { deallocate_burst(blocks); }

  // --- in place -------------------------------------------------------------------------------

  static constexpr resize_way ways = resize_way::expand_forward | resize_way::expand_backward |
                                     resize_way::allocate_new | resize_way::shrink | resize_way::try_shrink;

  // If a backward growth also names expand_forward, it takes free memory behind first. If there is no room in
  // front, the path to a new block is as short as without expand_backward.
  [[nodiscard]] MALLARD_INLINE resize_result resize(const resize_request& request) noexcept {
    boundary_tag* const b = boundary_tag::of(request.data);
    if (has_way(request.ways, resize_way::expand_forward)) {
      if (b->is_used() && blocks_.blocks().grow_into_rest(b, block_size_of(request.preferred))) [[likely]]
        return {{request.data, b->usable()}, true};
    } else if (has_way(request.ways, resize_way::allocate_new) && b->is_behind_used() &&
               !blocks_.blocks().follows_rest(b) && request.limit > b->usable() &&
               request.limit <= max_request) {
      return moved(request);
    }
    return resize_other(request);
  }

  // --- the whole heap -------------------------------------------------------------------------

  void clear() noexcept {
    MALLARD_VALIDATE();
    large_.release();
    blocks_.clear();
  }

  void release() noexcept {
    MALLARD_VALIDATE();
    large_.release();
    blocks_.release();
  }

  std::size_t trim(std::size_t keep) noexcept {
    MALLARD_VALIDATE();
    return blocks_.trim(keep);
  }

  // Bytes of the chunks, without blocks that passed through, and of free blocks in them, about.
  [[nodiscard]] std::size_t held() const noexcept { return blocks_.held(); }
  [[nodiscard]] std::size_t free_bytes() const noexcept { return blocks_.free_bytes(); }

  // Whether `count` adjacent blocks of `size` bytes, tags included, can be carved at `align` from one that is
  // free. O(align) if many are badly aligned.
  [[nodiscard]] bool has_room(std::size_t count, std::size_t size, std::size_t align) noexcept {
    return blocks_.has_room(count * size + boundary_tag::least, align);
  }

  [[nodiscard]] bool owns(const void* p) const noexcept { return blocks_.owns(p) || large_.owns(p); }

  // The address ranges of the chunks, without blocks that passed through, for a validation.
  [[nodiscard]] address_ranges chunk_ranges() const noexcept { return blocks_.chunk_ranges(); }

  // O(blocks).
  [[nodiscard]] heap_usage usage() const noexcept {
    const heap_usage inside = blocks_.usage();
    const heap_usage large = large_.usage();
    return {inside.held + large.held, inside.carved + large.carved, inside.granted + large.granted};
  }

  // O(blocks log chunks), in the memory of address_ranges.
  [[nodiscard]] violation validate() const noexcept {
    if (violation v = blocks_.validate()) return v;
    return large_.validate();
  }

  // Requests above this many bytes, with what their alignment may need, pass through.
  static constexpr std::size_t largest = Largest;

 private:
  // The largest request that the bins have a list for.
  static constexpr std::size_t largest_exact =
      free_blocks::small - boundary_tag::granule - boundary_tag::overhead;

  // Whether a request is served from chunks.
  [[nodiscard]] static constexpr bool is_ours(std::size_t size, std::size_t align) noexcept {
    return size <= Largest && align <= Largest - size;
  }

  MALLARD_NOINLINE block allocate_slow(std::size_t size, std::size_t align) noexcept {
    if (!is_ours(size, align)) return allocate_large(size, align);
    const std::size_t whole = boundary_tag::block_size(size);
    boundary_tag* const b =
        align <= boundary_tag::granule ? blocks_.allocate(whole) : blocks_.allocate_aligned(whole, align);
    if (b == nullptr) return {};
    return {b->data(), b->usable()};
  }

  // If memory runs out, chunks without blocks are returned to make room.
  block allocate_large(std::size_t size, std::size_t align) noexcept {
    const block b = large_.allocate(size, align);
    return b || blocks_.trim(0) == 0 ? b : large_.allocate(size, align);
  }

  MALLARD_NOINLINE void deallocate_slow(void* p) noexcept {
    boundary_tag* const b = boundary_tag::of(p);
    if (b->is_from_elsewhere()) return large_.deallocate(p);
    MALLARD_CHECK(b->is_used());
    blocks_.give(b);
  }

  // Carves a run of as many blocks as fit into `most` bytes, at least one; 0 when exhausted.
  std::size_t carve_lengths(chain& out, const std::size_t* lengths, std::size_t count, std::size_t unit,
                            std::size_t align, std::size_t most) noexcept {
    const auto whole = [&](std::size_t i) {
      return align_up(boundary_tag::block_size(linkable_size(lengths[i], unit)), align);
    };
    std::size_t bytes = whole(0);
    std::size_t in_run = 1;
    while (in_run < count && is_ours(linkable_size(lengths[in_run], unit), align) &&
           bytes + whole(in_run) <= most)
      bytes += whole(in_run++);
    if (carve_run(blocks_, out, in_run, bytes, align, whole)) return in_run;
    return in_run > 1 && carve_run(blocks_, out, 1, whole(0), align, whole) ? 1 : 0;
  }

  bool finish_burst(chain& out, chain& taken, bool is_whole) noexcept {
    if (is_whole)
      out.splice_back(taken);
    else
      deallocate_burst(taken);
    return is_whole;
  }

  MALLARD_NOINLINE resize_result resize_other(const resize_request& request) noexcept {
    const bool shrinking = has_way(request.ways, resize_way::shrink | resize_way::try_shrink);
    return shrinking ? shrink(request) : grow(request);
  }

  resize_result shrink(const resize_request& request) noexcept {
    boundary_tag* const b = boundary_tag::of(request.data);
    const bool may_stay =
        has_way(request.ways, resize_way::try_shrink) || usable_size(request.data) <= request.limit;
    if (!b->is_from_elsewhere()) {
      const std::size_t wanted = boundary_tag::block_size(request.preferred);
      const bool helps = wanted - boundary_tag::overhead <= request.limit;
      if (wanted < b->size() && (helps || may_stay)) blocks_.blocks().cut(b, wanted);
    }
    if (may_stay || usable_size(request.data) <= request.limit)
      return {{request.data, usable_size(request.data)}, true};
    return {};
  }

  resize_result grow(const resize_request& request) noexcept {
    if (request.limit > max_request) return {};
    const std::size_t preferred = std::clamp(request.preferred, request.limit, max_request);
    const bool may_move = has_way(request.ways, resize_way::allocate_new);
    if (has_way(request.ways, resize_way::expand_forward | resize_way::expand_backward))
      if (const block grown = grow_in_place(request, preferred, may_move)) return {grown, true};
    return may_move ? moved(request) : resize_result{};
  }

  // A new block instead; precondition: limit <= max_request.
  MALLARD_INLINE resize_result moved(const resize_request& request) noexcept {
    block anew = allocate(std::clamp(request.preferred, request.limit, max_request), request.align);
    if (!anew) anew = allocate(request.limit, request.align);
    return {anew, false};
  }

  // The block, grown to at least the limit; null if its neighbours leave no room. Recently freed blocks are
  // not coalesced yet. If the block may move, only the one behind it is looked for; if it may not, all of
  // them are coalesced, which costs more than a move.
  block grow_in_place(const resize_request& request, std::size_t preferred, bool may_move) noexcept {
    boundary_tag* const b = boundary_tag::of(request.data);
    if (b->is_from_elsewhere()) {
      const std::size_t usable = large_.usable_size(request.data);
      return request.limit <= usable ? block{request.data, usable} : block{};
    }
    const bool forward = has_way(request.ways, resize_way::expand_forward);
    boundary_tag* grown = into_neighbours(request, b, preferred);
    if (grown == nullptr && (may_move ? forward && blocks_.join_recent_behind(b) : blocks_.join_recent()))
      grown = into_neighbours(request, b, preferred);
    return grown == nullptr ? block{} : block{grown->data(), grown->usable()};
  }

  boundary_tag* into_neighbours(const resize_request& request, boundary_tag* b,
                                std::size_t preferred) noexcept {
    joined_blocks& blocks = blocks_.blocks();
    const bool forward = has_way(request.ways, resize_way::expand_forward);
    const bool backward = has_way(request.ways, resize_way::expand_backward);
    const std::size_t room = (forward ? blocks.room_behind(b) : 0) + (backward ? blocks.room_before(b) : 0);
    const std::size_t least = block_size_of(request.limit);
    if (b->size() + room < least) return nullptr;
    const std::size_t wanted = block_size_of(preferred);
    if (forward && grow_forward(blocks, b, least, wanted)) return b;
    return backward ? grow_backward(blocks, b, least, wanted, request.step, forward) : nullptr;
  }

  // For requests that no chunk can hold, max_request or more.
  [[nodiscard]] static std::size_t block_size_of(std::size_t size) noexcept {
    return boundary_tag::block_size(std::min(size, max_request - boundary_tag::least));
  }

  Upstream upstream_;
  live_list<upstream_ref<Upstream>> large_;  // before the lists: what a short life touches is together
  coalesce<upstream_ref<Upstream>, Growth> blocks_;
};

using best_fit = basic_best_fit<>;

template <>
inline constexpr std::string_view heap_name<best_fit> = "best_fit";

}  // namespace mallard
