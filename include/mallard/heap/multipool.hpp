// multipool: a pool for each size class; larger blocks pass through to the upstream.
//
//     size <= largest:  [8] [16] [24] ... [32768]   free lists over shared chunks      --+
//     larger, or aligned to more than 64:  node <-> node <-> node                      --+--> Upstream
//
// A class begins with blocks from memory that all classes share, so a small heap takes few pages. Once it has
// carved 16 KiB, it moves to slabs of 8 KiB. What was freed last waits in a magazine, an array of pointers;
// what is older waits in the slab that it lies in, as a bit, and comes back in address order. So blocks that
// are allocated one after the other are neighbours however long the heap has been used, and a free block is
// not touched (layer/class_slabs.hpp). Classes of 1 KiB and more keep one list, and so do those of an
// upstream that has no memory aligned to 8 KiB. A freed block is reused for its own class, the newest first,
// while it may still be in the caches. Pooled blocks have no headers. Large blocks return to the upstream
// when they are freed; chunks by release() and the destructor; chunks that a clear() has kept also before a
// request is refused. After everything is freed, or after clear(), it holds the sum of its classes' peaks,
// less what slabs without a block have passed from class to class, plus at most
//
//     a sixteenth of what it holds, or 16 KiB, in the chunk in use,
//     a slab of 8 KiB for each class that has any, a 32nd of its peak that waits in slabs, and in each slab
//         64 bytes, a bit a block, and less than a block,
//     magazines: 80 bytes for a class at first, 2.1 KiB in all for one that has carved 1024 blocks or slabs,
//     less than 64 bytes in front of each larger block, where its neighbour is of another class,
//     the end of each chunk: a sixteenth of it and a page if one class fills it, otherwise less than a block.
//
// fifo_multipool and lifo_multipool keep one list a class; fifo_multipool reuses the oldest block first.
// Over a monotonic nothing returns, not even large blocks, before clear() or release(); clear() then keeps
// the monotonic's largest chunk. It holds nothing until first used.
// Cost of a pair of up to 1 KiB: 13 instructions if size and alignment are known, 23 if one is known only at
// run time, 29 if both are. A whole life (construction, one pair, destruction) takes about 550 with the
// upstream's share (./dev instructions). All operations are O(1) beside the upstream's cost, large blocks and
// chunks included, except those that end all blocks or inspect them; one in 4 to 64 takes or returns as many
// blocks. Debug builds validate the whole heap in clear(), release() and the destructor.
// Seed 000, section 3 (multipools) and 4 (AS7 to AS10); seed 003, chapter 3 (lists local to a page).
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <utility>

#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/burst.hpp"
#include "mallard/core/chain.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/growth.hpp"
#include "mallard/core/intrusive_stack.hpp"
#include "mallard/core/magazine.hpp"
#include "mallard/core/size_classes.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool/intrusive_queue.hpp"
#include "mallard/heap/multipool/segregate.hpp"
#include "mallard/layer/address_ranges.hpp"
#include "mallard/layer/live_list.hpp"
#include "mallard/source/default_source.hpp"
#include "mallard/source/upstream_ref.hpp"

namespace mallard {

// Steps of 8 bytes, the least that holds a link, up to 128: objects with a pointer have sizes that are
// multiples of 8, so nodes and small objects are not rounded. Then 8 classes per doubling, the fewest that
// keep every program, not only the mean one, near a tenth: they round a single size by an eighth at most, and
// sizes with an even distribution of logarithms by 4.7 % on average (4 classes: a quarter and 9.6 %). More
// classes hold more peaks, as none serves another class. Up to 32 KiB: a block that passes through loses half
// a page and a node of 32 bytes on average, less than that tenth from 22 KiB on, and its memory returns when
// it is freed. The price is time: its page faults, if the chunk cache has no chunk for it, in proportion to
// its size, as its use is. `./dev footprint --sweep` shows both.
using multipool_classes = size_classes<8, 64, 8, 32768>;

// Unused memory is the rest of the newest chunk and the rest of each class's newest run. Together they should
// be an eighth, so each is a sixteenth: (17/16)^2 = 1.13. Doubling what is held takes 11 chunks. One page at
// first, the least that the system provides; then steps of four pages, whose page faults cost three times the
// system call; 1 MiB at most, where the call is less than a hundredth of that.
using multipool_growth = proportional<4096, 16384, 16, 1048576>;

// A class below 128 bytes starts with 512, so that eight share the first page. Steps of 1 KiB spread the
// cost of a new run over eight blocks or more. At most as much as one block of the largest class.
using multipool_run_growth = proportional<512, 1024, 16, multipool_classes::largest>;

// `Slab`: bytes of a slab, a power of two up to 32 KiB. 0: one list a class, as where the upstream ends all
// blocks at once: what ends as a whole has no time to be shuffled, and aligned slabs would leave holes in it.
template <heap Upstream = default_source, class Classes = multipool_classes,
          growth_policy Growth = multipool_growth, growth_policy RunGrowth = multipool_run_growth,
          class FreeList = intrusive_stack,
          std::size_t Slab = std::same_as<FreeList, intrusive_stack> && !releasable<Upstream> ? 8192 : 0>
class basic_multipool {
 public:
  using upstream_type = Upstream;
  using classes = Classes;

  template <class... Args>
    requires constructible_as_root<Upstream, Args...>
  explicit basic_multipool(Args&&... args)
      : upstream_(std::forward<Args>(args)...), pools_(upstream_), large_(upstream_) {}
  basic_multipool(const basic_multipool&) = delete;
  basic_multipool& operator=(const basic_multipool&) = delete;
  ~basic_multipool() {
    MALLARD_VALIDATE();
    if constexpr (releasable<Upstream>) forget();
  }

  // Memory that is allocated from the upstream directly may end with this heap's clear() and release().
  [[nodiscard]] upstream_type& upstream() noexcept { return upstream_; }
  [[nodiscard]] const upstream_type& upstream() const noexcept { return upstream_; }

  [[nodiscard]] MALLARD_INLINE block allocate(std::size_t size, std::size_t align) noexcept {
    const block reused = pools_.allocate_fast(size, align);
    if (reused) [[likely]]
      return reused;
    return allocate_slow(size, align);
  }

  MALLARD_INLINE void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    if (!pools_.deallocate_fast(p, size, align)) [[unlikely]]
      deallocate_slow(p, size, align);
  }

  // Freed blocks first; new ones of a class are adjacent as requested, large ones never. A class that is
  // asked for more adjacent blocks than a slab has keeps one list from then on.
  [[nodiscard]] bool allocate_burst(chain& out, std::size_t count, std::size_t size, std::size_t align,
                                    std::size_t contiguous) noexcept {
    size = std::max(size, sizeof(void*));
    if (Classes::serves(size, align)) return pools_.allocate_burst(out, count, size, align, contiguous);
    bool is_served = false;
    do is_served = allocate_each(large_, out, count, size, align);
    while (!is_served && pools_.give_spares_back());
    return is_served;
  }

  void deallocate_burst(chain& blocks, std::size_t size, std::size_t align) noexcept {
    if (Classes::serves(size, align)) return pools_.deallocate_burst(blocks, size, align);
    while (!blocks.empty()) large_.deallocate(blocks.pop_front());
  }

  // For callers that keep blocks in magazines of their own, and use nothing but these for the class: writes
  // up to `most` of its blocks below `end`, the one to be used first on top; returns their number, 0 when
  // exhausted. O(most).
  [[nodiscard]] std::size_t allocate_batch(std::size_t index, magazine::slot* end, std::size_t most) noexcept
    requires(Slab != 0)
  {
    return pools_.allocate_batch(index, end, most);
  }
  // The blocks may be of any batches of the class. O(blocks).
  void deallocate_batch(std::size_t index, std::span<const magazine::slot> blocks) noexcept
    requires(Slab != 0)
  {
    pools_.deallocate_batch(index, blocks);
  }

  [[nodiscard]] std::size_t received_size(std::size_t size, std::size_t align) const noexcept
    requires predictable<Upstream>
  {
    return Classes::serves(size, align) ? pools_.received_size(size, align)
                                        : large_.received_size(size, align);
  }

  // Keeps the pools' chunks; a clearable upstream decides what it keeps. O(large blocks + chunks); O(1)
  // beside the upstream's cost if that is clearable.
  void clear() noexcept {
    MALLARD_VALIDATE();
    if constexpr (clearable<Upstream>) {
      forget();
      upstream_.clear();
    } else {
      large_.release();
      pools_.clear();
    }
  }

  // O(large blocks + chunks); O(1) beside the upstream's cost if that is releasable.
  void release() noexcept {
    MALLARD_VALIDATE();
    if constexpr (releasable<Upstream>) {
      forget();
      upstream_.release();
    } else {
      large_.release();
      pools_.release();
    }
  }

  [[nodiscard]] bool owns(const void* p) const noexcept { return pools_.owns(p) || large_.owns(p); }

  // Blocks carved and free in the pool of class `index`, below classes::count. O(its blocks).
  [[nodiscard]] pool_statistics statistics(std::size_t index) const noexcept {
    return pools_.statistics(index);
  }

  [[nodiscard]] heap_usage usage() const noexcept {
    const heap_usage pooled = pools_.usage();
    const heap_usage large = large_.usage();
    return {pooled.held + large.held, pooled.carved + large.carved, pooled.granted + large.granted};
  }

  // The address ranges of the chunks from which the classes' blocks are carved, for a validation.
  [[nodiscard]] address_ranges chunk_ranges() const noexcept { return pools_.chunk_ranges(); }

  // O(blocks freed log runs + large blocks), in the memory of address_ranges.
  [[nodiscard]] violation validate() const noexcept {
    if (violation v = pools_.validate()) return v;
    return large_.validate();
  }

 private:
  MALLARD_NOINLINE block allocate_slow(std::size_t size, std::size_t align) noexcept {
    if (Classes::is_small(size, align)) [[likely]]
      return pools_.carve(Classes::small_index(size, align));
    return allocate_large(size, align);
  }

  // If memory runs out, what clear() has kept is returned to make room.
  MALLARD_NOINLINE block allocate_large(std::size_t size, std::size_t align) noexcept {
    if (Classes::serves(size, align)) return pools_.allocate(size, align);
    block b;
    do b = large_.allocate(size, align);
    while (!b && pools_.give_spares_back());
    return b;
  }

  MALLARD_NOINLINE void deallocate_slow(void* p, std::size_t size, std::size_t align) noexcept {
    Classes::serves(size, align) ? pools_.deallocate(p, size, align) : large_.deallocate(p);
  }

  // Ends all blocks of a heap whose upstream then ends its own.
  void forget() noexcept {
    large_.forget();
    pools_.forget();
  }

  Upstream upstream_;
  segregate<upstream_ref<Upstream>, Classes, Growth, RunGrowth, FreeList, Slab> pools_;
  live_list<upstream_ref<Upstream>> large_;
};

using multipool = basic_multipool<>;

// One free list a class, however large the heap becomes: six instructions less a pair, and nothing to move
// between magazines and slabs, for heaps that end before their lists are shuffled.
using lifo_multipool = basic_multipool<default_source, multipool_classes, multipool_growth,
                                       multipool_run_growth, intrusive_stack, 0>;

// A block that passes through to a monotonic is lost until clear(), so there are classes up to 1 MiB.
using multipool_over_monotonic = basic_multipool<monotonic, size_classes<8, 64, 8, 1048576>>;

// Elements that come and go for a long time keep the address order in which they were made: a list that
// shrinks in front and grows behind is traversed as fast as a new one. The price: three instructions more per
// pair than lifo_multipool, and reuse of the block freed longest ago.
using fifo_multipool = basic_multipool<default_source, multipool_classes, multipool_growth,
                                       multipool_run_growth, intrusive_queue, 0>;

template <>
inline constexpr std::string_view heap_name<multipool> = "multipool";
template <>
inline constexpr std::string_view heap_name<lifo_multipool> = "lifo_multipool";
template <>
inline constexpr std::string_view heap_name<fifo_multipool> = "fifo_multipool";
template <>
inline constexpr std::string_view heap_name<multipool_over_monotonic> = "multipool/monotonic";

}  // namespace mallard
