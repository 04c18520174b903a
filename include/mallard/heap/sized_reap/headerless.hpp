// headerless<Upstream, Growth, LeastAnew, LeastSlabs>: headerless blocks, bump-allocated from chunks;
// deallocate is given their size.
//
//     bumping      [ b ][ b ][ b ]^ cursor ................. limit = end ^     no list is looked at
//     heap mode    [ b ][free][ b ]^ cursor = limit ................. end ^    lists first, then the cursor
//     chunk_list   newest --> [ chunk ] --> [ chunk ] ...                      --> Upstream
//     chunk        [ header ][ blocks .................................. ][ map: a bit for each 8 bytes ]
//
// While nothing is free, a cursor moves and no header is written. A free puts its block into sized_blocks and
// stops the cursor. From then on a request tries the lists first, then the cursor, then the large free
// blocks: the cursor moves into the smallest that is sufficient. Before a new chunk is taken, and if more
// than a 16th of what is held was freed since the last time, all free blocks are coalesced, and chunks
// without blocks return to the upstream. For that each free block is marked in its chunk's map, a 64th of the
// chunk that nothing else writes, and what is marked in a row is free memory in one piece. Bumping resumes as
// in clear_optimized: with clear(), and in runs that double with each request that found no free block. A
// heap that holds LeastAnew bytes or more is as cleared once its last block is freed: bumping through chunks
// in order costs less than lists of blocks that lie all over memory no cache holds. A smaller one goes on
// with its lists, which have the sizes it needs. A heap that holds LeastSlabs bytes when a request finds no
// free block takes slabs for small blocks from then on (layer/hosted_slabs.hpp): they are blocks like any
// other here. While more than a 32nd of what is held is free, they are cut from that. Sizes here are
// rounded() ones. Invariants: [cursor, end) is in no list; limit is stopped() or between the two; while it is
// stopped and blocks live, the lists are open. Cost: bumping as in a region; freeing and reusing a small
// block takes about 10 instructions each. Not synchronised. Seed 002, section 8.1 (ClearOptimizedHeap).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <new>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/chain.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/growth.hpp"
#include "mallard/core/magazine.hpp"
#include "mallard/core/size_classes.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/heap/sized_reap/sized_blocks.hpp"
#include "mallard/layer/address_ranges.hpp"
#include "mallard/layer/chunk_list.hpp"
#include "mallard/layer/hosted_slabs.hpp"

namespace mallard {

// Bytes: more than caches of the second level hold.
inline constexpr std::size_t headerless_least_anew = std::size_t{8} << 20;

// Bytes held before small blocks lie in slabs: about what the second level of caches has, within which lists
// are as fast.
inline constexpr std::size_t headerless_least_slabs = std::size_t{1} << 20;

template <heap Upstream, growth_policy Growth, std::size_t LeastAnew = headerless_least_anew,
          std::size_t LeastSlabs = headerless_least_slabs>
class headerless {
  using chunks = chunk_list<Upstream, Growth>;
  using chunk = typename chunks::chunk;
  using word = std::uint64_t;
  static constexpr std::size_t bits = 64;  // of a word

 public:
  using upstream_type = Upstream;

  template <class... Args>
    requires constructible_as_root<Upstream, Args...>
  explicit headerless(Args&&... args) : chunks_(std::forward<Args>(args)...) {}
  headerless(const headerless&) = delete;
  headerless& operator=(const headerless&) = delete;

  [[nodiscard]] upstream_type& upstream() noexcept { return chunks_.upstream(); }
  [[nodiscard]] const upstream_type& upstream() const noexcept { return chunks_.upstream(); }

  // The received size for `size` bytes at `align`: a multiple of 8 bytes; of 16 if the alignment is larger,
  // so that aligned blocks follow each other without gaps; from 1 KiB on one of large_sizes. Precondition: at
  // most large_sizes::largest.
  [[nodiscard]] static constexpr std::size_t rounded(std::size_t size, std::size_t align) noexcept {
    if (size > sized_blocks::small - sized_blocks::coarse) return large_sizes::rounded(size);
    return rounded_small(size, align);
  }
  [[nodiscard]] static constexpr std::size_t rounded_small(std::size_t size, std::size_t align) noexcept {
    constexpr std::size_t step = sized_blocks::granule;
    static_assert(sized_blocks::coarse == 2 * step);
    const std::size_t mask = step - 1 + static_cast<std::size_t>(align > step) * step;
    return (size + static_cast<std::size_t>(size == 0) + mask) & ~mask;
  }

  // Whether a block that is requested so is small.
  [[nodiscard]] static constexpr bool is_small(std::size_t size, std::size_t align) noexcept {
    constexpr std::size_t most = sized_blocks::small - sized_blocks::coarse;
    return size <= most && align <= most;
  }

  // Null when exhausted.
  [[nodiscard]] void* allocate(std::size_t size, std::size_t align) noexcept {
    if (size >= sized_blocks::small) {
      if (void* const p = bump_in_run(size, align); p != nullptr) return p;
      if (void* const p = free_.take_rounded(size, align); p != nullptr) return p;
    } else {
      if (void* const p = allocate_at_hand(size, align); p != nullptr) return p;
      return allocate_elsewhere(size, align);
    }
    return allocate_slow(size, align);
  }

  // A small block that allocate_at_hand() has not; null when exhausted.
  [[nodiscard]] void* allocate_elsewhere(std::size_t size, std::size_t align) noexcept {
    if (slabs_ != nullptr)
      if (void* const p = slabs_->refill(size, align); p != nullptr) return p;
    if (slabs_ != nullptr || align > granule)
      if (void* const p = free_.take_exact(size, align); p != nullptr) return p;
    return allocate_slow(size, align);
  }

  // A small block that takes no search; null if allocate() has to provide it.
  [[nodiscard]] MALLARD_INLINE void* allocate_at_hand(std::size_t size, std::size_t align) noexcept {
    if (void* const p = bump_in_run(size, align); p != nullptr) [[likely]]
      return p;
    return limit_ == with_slabs ? slabs_->allocate(size, align) : free_.take_newest(size, align);
  }

  // Whether the next free stops the cursor, and costs more than those after it.
  [[nodiscard]] bool is_bumping() const noexcept { return limit_ > with_slabs; }

  // Frees a block of the given received size.
  void deallocate(void* p, std::size_t size) noexcept {
    if (size < sized_blocks::small) return deallocate_small(p, size);
    if (is_bumping()) stop_bumping();
    free_.put_rounded(p, size);
    if (free_.bytes() == taken_) begin_as_new();
  }

  // The same for a small block.
  MALLARD_INLINE void deallocate_small(void* p, std::size_t size) noexcept {
    if (limit_ != 0) [[unlikely]] {
      if (limit_ != with_slabs) return deallocate_bumping(p, size);
      return slabs_->deallocate(p, size);
    }
    free_.put_small(p, size);
    if (free_.bytes() == taken_) [[unlikely]]
      begin_as_new();
  }

  // Ends all blocks; keeps all chunks. O(chunks).
  void clear() noexcept {
    forget();
    chunks_.recycle();
    begin_anew();
  }

  // Ends all blocks and returns all chunks. O(chunks).
  void release() noexcept {
    forget();
    chunks_.release();
  }

  // Coalesces free memory, and returns chunks without blocks until at most `keep` bytes of them are held;
  // returns the number of bytes returned.
  std::size_t trim(std::size_t keep) noexcept {
    const std::size_t before = chunks_.held();
    if (slabs_ != nullptr && slabs_->trim()) end_slabs();
    const bool was_empty = is_empty();
    if (was_empty) {
      forget();
      chunks_.recycle();
    }
    chunks_.trim_spares(join(keep));
    if (was_empty) begin_anew();
    return before - chunks_.held();
  }

  [[nodiscard]] bool owns(const void* p) const noexcept { return chunks_.owns(p); }

  // Padding between blocks counts as granted: it cannot be distinguished from a block afterwards. O(chunks +
  // slabs).
  [[nodiscard]] heap_usage usage() const noexcept {
    heap_usage found{chunks_.held(), 0, 0};
    for (chunk* c = chunks_.newest(); c != nullptr; c = c->older()) found.granted += room_of(c);
    found.granted -= free_.bytes() + (end_ - cursor_);
    if (slabs_ != nullptr) found.granted -= slabs_->unused() + slabs::bytes();
    found.carved = found.granted;
    return found;
  }

  // O(free blocks log chunks), in the memory of address_ranges.
  [[nodiscard]] violation validate() const noexcept {
    if (violation v = chunks_.validate()) return v;
    if (cursor_ > end_ || (is_bumping() && (limit_ < cursor_ || limit_ > end_)))
      return {"headerless: the cursor is outside what it moves in"};
    if (!is_bumping() && chunks_.newest() != nullptr && !free_.is_open())
      return {"headerless: blocks can be freed, and no list can take them"};
    const address_ranges inside = chunks_.chunk_ranges();
    if (cursor_ != end_ && !inside.contains(reinterpret_cast<const void*>(cursor_)))
      return {"headerless: the cursor is outside the chunks"};
    violation found;
    const bool are_whole = free_.each([&](const void* p, std::size_t size) {
      const std::uintptr_t at = address_of(p);
      if (!inside.contains(p, sized_blocks::granule))
        found = {"headerless: a free block is outside the chunks"};
      if (at < end_ && at + size > cursor_ && cursor_ != end_)
        found = {"headerless: a free block lies where the cursor moves"};
      return !found;
    });
    if (found) return found;
    if (!are_whole) return {"headerless: the free blocks do not add up"};
    return slabs_ == nullptr ? violation{} : slabs_->validate(inside);
  }

 private:
  static constexpr std::size_t granule = sized_blocks::granule;
  using slabs =
      hosted_slabs<headerless, granule, sized_blocks::small, 0, std::min(LeastSlabs, std::size_t{16} << 10)>;
  friend slabs;

  // A bit for each granule of a chunk's room, set if it is free.
  class free_map {
   public:
    explicit free_map(chunk* c) noexcept
        : begin_(c->begin()), granules_(room_of(c) / granule), words_(words_of(c)) {}

    void clear() noexcept { std::fill_n(words_, whole_words(granules_), word{0}); }

    void mark(const std::byte* p, std::size_t size) noexcept {
      auto at = static_cast<std::size_t>(p - begin_) / granule;
      for (std::size_t left = size / granule; left != 0;) {
        const std::size_t first = at % bits;
        const std::size_t count = std::min(left, bits - first);
        words_[at / bits] |= (~word{0} >> (bits - count)) << first;
        at += count;
        left -= count;
      }
    }

    // Calls f(begin, size) for what is marked in a row, in address order.
    template <class F>
    void for_each_run(F f) const noexcept {
      for (std::size_t from = next(0, 0); from != granules_;) {
        const std::size_t to = next(from, ~word{0});
        f(begin_ + from * granule, (to - from) * granule);
        from = next(to, 0);
      }
    }

   private:
    // The first granule from `at` on whose bit is not as in `same`; the end if there is none.
    [[nodiscard]] std::size_t next(std::size_t at, word same) const noexcept {
      while (at < granules_) {
        const word differs = (words_[at / bits] ^ same) >> at % bits;
        if (differs != 0)
          return std::min(granules_, at + static_cast<std::size_t>(std::countr_zero(differs)));
        at = align_down(at, bits) + bits;
      }
      return granules_;
    }

    std::byte* begin_;
    std::size_t granules_;
    word* words_;
  };

  // Finds chunks by address: of all or, where there are many, of every few the lowest.
  class chunk_index {
   public:
    explicit chunk_index(chunk* lowest) noexcept {
      std::size_t count = 0;
      for (chunk* c = lowest; c != nullptr; c = c->higher()) ++count;
      const std::size_t stride = (count + found_.size() - 1) / found_.size();
      for (std::size_t i = 0; lowest != nullptr; lowest = lowest->higher(), ++i)
        if (i % stride == 0) found_[size_++] = lowest;
    }

    // The chunk that `p` lies in. Precondition: there is one.
    [[nodiscard]] chunk* of(const std::byte* p) const noexcept {
      const auto begin = found_.begin();
      chunk* c = *std::prev(std::upper_bound(
          begin, begin + static_cast<std::ptrdiff_t>(size_), p,
          [](const std::byte* at, chunk* other) { return address_of(at) < address_of(other->begin()); }));
      while (c != nullptr && !c->contains(p)) c = c->higher();
      MALLARD_CHECK(c != nullptr);
      return c;
    }

   private:
    std::array<chunk*, 256> found_;
    std::size_t size_ = 0;
  };

  // As in clear_optimized.
  static constexpr std::size_t first_run = 64;
  static constexpr std::size_t least_run = 256;
  static constexpr std::size_t largest_run = 4096;
  static constexpr std::size_t endless = max_request / 4;

  // No address.
  static constexpr std::uintptr_t with_slabs = 1;

  // Whether no block was allocated since clear(): the cursor is at the start of the only chunk.
  [[nodiscard]] bool is_empty() const noexcept {
    chunk* const newest = chunks_.newest();
    return newest == nullptr || (newest->older() == nullptr && end_ - cursor_ == room_of(newest));
  }

  // When the last block was freed; out of line.
  MALLARD_NOINLINE void begin_as_new() noexcept { clear(); }

  // For deallocate(): a heap that holds less does not begin as new.
  void note_taken() noexcept {
    taken_ = chunks_.held() >= LeastAnew ? room_ - (end_ - cursor_) : ~std::size_t{0};
  }

  // Bumps in the first chunk that clear() kept, if there is one; precondition: nothing is in use.
  void begin_anew() noexcept {
    chunk* const first = chunks_.add_spare();
    if (first == nullptr) return;
    room_ += room_of(first);
    move_into(first);
    limit_ = end_;
  }

  void forget() noexcept {
    cursor_ = limit_ = end_ = 0;
    run_ = endless;
    room_ = taken_ = 0;
    joined_ = 0;
    slabs_ = nullptr;
    free_.clear();
  }

  // Lists are asked from now on, and take blocks in.
  void stop_bumping() noexcept {
    limit_ = stopped();
    note_taken();
    run_ = 0;
    free_.open();
  }

  // `limit_` while nothing is bumped: no cursor is below.
  [[nodiscard]] std::uintptr_t stopped() const noexcept { return slabs_ == nullptr ? 0 : with_slabs; }

  MALLARD_NOINLINE void deallocate_bumping(void* p, std::size_t size) noexcept {
    stop_bumping();
    deallocate_small(p, size);
  }

  // Null where the run ends before.
  MALLARD_INLINE void* bump_in_run(std::size_t size, std::size_t align) noexcept {
    const std::uintptr_t start = cursor_;
    const std::uintptr_t behind = start + size;
    if (behind > limit_) return nullptr;
    if (align > sized_blocks::granule && (start & (align - 1)) != 0) return nullptr;
    MALLARD_ASSUME(start != 0);
    cursor_ = behind;
    return reinterpret_cast<void*>(start);
  }

  MALLARD_NOINLINE void* allocate_slow(std::size_t size, std::size_t align) noexcept {
    if (free_.bytes() != 0 || cursor_ != end_) return allocate_free(size, align);
    joined_ = 0;
    return allocate_in_new_chunk(size, align);
  }

  MALLARD_NOINLINE void* allocate_free(std::size_t size, std::size_t align) noexcept {
    if (void* const p = find(size, align); p != nullptr) return p;
    if (slabs_ == nullptr)
      begin_slabs();
    else if (slabs_->idle() > chunks_.held() / 16)
      slabs_->give_back();
    if (void* const p = find_joined(size, align); p != nullptr) return p;
    return allocate_in_new_chunk(size, align);
  }

  // Null unless enough was freed for coalescing to be worth while.
  void* find_joined(std::size_t size, std::size_t align) noexcept {
    joined_ = std::min(joined_, free_.bytes());
    if (free_.bytes() - joined_ <= chunks_.held() / 16) return nullptr;
    join(0);
    return find(size, align);
  }

  // In a heap that has grown, and in which blocks come and go.
  void begin_slabs() noexcept {
    if (chunks_.held() < LeastSlabs || run_ == endless) return;
    if (without_slabs_.lasts()) return;
    const block place = take_memory(slabs::bytes());
    if (!place) return without_slabs_.begin();
    slabs_ = ::new (place.data) slabs(*this);
    if (!is_bumping()) limit_ = stopped();
  }

  void end_slabs() noexcept {
    put_memory(std::exchange(slabs_, nullptr), slabs::bytes());
    if (!is_bumping()) limit_ = stopped();
  }

  // What hosted_slabs asks of its host.
  block take_memory(std::size_t size) noexcept {
    void* const p = take_whole(size, sized_blocks::coarse, true);
    return p == nullptr ? block{} : block{p, size};
  }
  std::size_t put_memory(void* p, std::size_t size) noexcept {
    free_.put(static_cast<std::byte*>(p), size);
    return size;
  }

  // Adjacent ones, if there are. While much is free they are cut from what is held.
  void take_slabs(chain& out, std::size_t count) noexcept {
    const bool may_grow = free_.bytes() <= chunks_.held() / 32;
    std::byte* p = nullptr;
    count = slabs::at_once(chunks_.held(), count);
    while (count != 0 && p == nullptr) {
      p = static_cast<std::byte*>(take_whole(count * slabs::slab_size, slabs::slab_size, may_grow));
      if (p == nullptr) count /= 2;
    }
    for (; count != 0; --count, p += slabs::slab_size) out.push_back(p);
  }
  void put_slab(void* p) noexcept { put_memory(p, slabs::slab_size); }

  // As allocate_free, for any multiple of `coarse`, and returning nothing to the upstream to make room.
  void* take_whole(std::size_t size, std::size_t align, bool may_grow) noexcept {
    if (void* const p = find(size, align); p != nullptr) return p;
    if (void* const p = find_joined(size, align); p != nullptr) return p;
    chunk* const added = may_grow ? add_chunk(size, align) : nullptr;
    if (added == nullptr) return nullptr;
    move_into(added);
    return bump(size, align);
  }

  std::size_t take_outside(std::size_t size, magazine::slot* end, std::size_t most) noexcept {
    std::size_t taken = 0;
    for (void* p = nullptr; taken != most && (p = free_.take_exact(size, granule)) != nullptr; ++taken)
      *(end - taken - 1) = address_of(p);
    return taken;
  }
  void put_outside(void* p, std::size_t size) noexcept { free_.put_small(p, size); }

  void* allocate_in_new_chunk(std::size_t size, std::size_t align) noexcept {
    chunk* const added = add_chunk(size, align);
    if (added == nullptr) [[unlikely]]
      return allocate_without_new_chunk(size, align);
    if (run_ == endless && cursor_ == end_ && align <= default_align) return bump_from(added, size);
    move_into(added);
    return bump(size, align);
  }

  // If no memory is left for a chunk, unused memory is returned to make room.
  MALLARD_NOINLINE void* allocate_without_new_chunk(std::size_t size, std::size_t align) noexcept {
    const bool gave_back = trim(0) != 0;
    without_slabs_.begin();
    if (void* const p = find(size, align); p != nullptr) return p;
    return gave_back ? allocate_in_new_chunk(size, align) : nullptr;
  }

  chunk* add_chunk(std::size_t size, std::size_t align) noexcept {
    // Enough that room_of() holds the block and what its alignment may leave in front.
    const std::size_t room = std::max(size, sized_blocks::small);
    const std::size_t map = (room + align) / (bits - 1) + 3 * sizeof(word);
    chunk* const added = chunks_.add(room + map, std::max(align, default_align));
    if (added != nullptr) room_ += room_of(added);
    return added;
  }

  // Allocates from free memory.
  void* find(std::size_t size, std::size_t align) noexcept {
    if (size < sized_blocks::small && align <= sized_blocks::coarse) return find_small(size, align);
    std::size_t received = 0;
    std::byte* const found = free_.take_large(size, align, received);
    if (found == nullptr) return bump(size, align);
    std::byte* const start = found + padding_for(found, align);
    std::byte* const behind = start + size;
    free_.put(found, static_cast<std::size_t>(start - found));
    free_.put(behind, received - static_cast<std::size_t>(behind - found));
    return start;
  }

  void* find_small(std::size_t size, std::size_t align) noexcept {
    if (void* const p = free_.take_small(size, align); p != nullptr) return p;
    if (void* const p = bump(size, align); p != nullptr) return p;
    std::size_t received = 0;
    std::byte* const found = free_.take_large(sized_blocks::small, 1, received);
    if (found == nullptr) return nullptr;
    move_into(found, found + received);
    return bump(size, align);
  }

  // Allocates at the cursor; the padding in front of the block becomes free.
  void* bump(std::size_t size, std::size_t align) noexcept {
    const std::uintptr_t start = align_up(cursor_, align);
    if (start + size > end_) return nullptr;
    if (run_ != endless) lengthen_run();
    if (start != cursor_) free_.put(reinterpret_cast<std::byte*>(cursor_), start - cursor_);
    free_at_bump_ = free_.bytes();
    cursor_ = start + size;
    note_taken();
    limit_ = run_ < least_run ? stopped() : std::min(end_, cursor_ + run_);
    return reinterpret_cast<void*>(start);
  }

  // The same from the start of a chunk, as long as nothing has been freed.
  void* bump_from(chunk* c, std::size_t size) noexcept {
    cursor_ = address_of(c->begin()) + size;
    limit_ = end_ = address_of(c->begin()) + room_of(c);
    return c->begin();
  }

  // Unless something was freed or found since the last request that had to be served from the cursor.
  void lengthen_run() noexcept {
    if (free_.bytes() != free_at_bump_) run_ = 0;
    run_ = std::min(largest_run, 2 * run_ + first_run);
  }

  static constexpr std::size_t whole_words(std::size_t granules) noexcept {
    return (granules + bits - 1) / bits;
  }

  // Bytes of a chunk for blocks; its map follows.
  static std::size_t room_of(chunk* c) noexcept {
    const auto all = static_cast<std::size_t>(c->end() - c->begin());
    return align_down(all - (all / (bits * granule) + 1) * sizeof(word), sizeof(word));
  }
  static word* words_of(chunk* c) noexcept { return reinterpret_cast<word*>(c->begin() + room_of(c)); }

  // Coalesces all free memory and returns the chunks that are entirely free, except for `keep` bytes of them;
  // returns how much of `keep` is left. O(free blocks log chunks + bytes held / 512), and beyond 256 chunks
  // O(free blocks chunks / 512); with growing chunks that many hold 100 MiB and more. A chunk's `filled`,
  // otherwise unused here, marks those to return.
  std::size_t join(std::size_t keep) noexcept {
    if (chunks_.newest() == nullptr) return keep;
    stop_bumping();
    retire();
    chunk* const lowest = chunks_.sort();
    for (chunk* c = lowest; c != nullptr; c = c->higher()) free_map(c).clear();
    const chunk_index index(lowest);
    free_.take_all([&](const std::byte* p, std::size_t size) { free_map(index.of(p)).mark(p, size); });
    for (chunk* c = lowest; c != nullptr; c = c->higher())
      free_map(c).for_each_run([&](std::byte* begin, std::size_t size) {
        if (size != room_of(c)) return free_.put(begin, size);
        if (c->size() > keep) return c->set_filled(nullptr);
        keep -= c->size();
        free_.put(begin, size);
      });
    chunks_.drop_if([&](const chunk* c) {
      if (c->filled() != nullptr) return false;
      room_ -= room_of(const_cast<chunk*>(c));
      return true;
    });
    joined_ = free_.bytes();
    note_taken();
    return keep;
  }

  // Frees the memory in which the cursor moved.
  void retire() noexcept {
    if (cursor_ != end_) free_.put(reinterpret_cast<std::byte*>(cursor_), end_ - cursor_);
    cursor_ = end_ = 0;
    limit_ = stopped();
  }

  void move_into(chunk* c) noexcept { move_into(c->begin(), c->begin() + room_of(c)); }
  void move_into(std::byte* begin, std::byte* end) noexcept {
    retire();
    cursor_ = address_of(begin);
    end_ = address_of(end);
  }

  std::uintptr_t cursor_ = 0;
  std::uintptr_t limit_ = 0;  // the end of the run while bumping, otherwise stopped()
  std::uintptr_t end_ = 0;
  std::size_t run_ = endless;
  std::size_t free_at_bump_ = 0;  // bytes of free blocks after the cursor moved without a run
  std::size_t room_ = 0;          // of all chunks
  std::size_t taken_ = 0;   // of that what blocks have had, once the cursor has stopped: free if none lives
  std::size_t joined_ = 0;  // upper bound of free bytes that coalescing did not help
  slabs* slabs_ = nullptr;  // of small blocks, once there are
  respite without_slabs_;   // after memory was short
  chunks chunks_;
  sized_blocks free_;  // last: its lists are untouched as long as nothing is freed
};

}  // namespace mallard
