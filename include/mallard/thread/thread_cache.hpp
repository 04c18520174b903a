// thread_cache<Lists>: the freed blocks that one thread keeps for one heap, in a magazine for each size.
//
//     magazine i    freed to and allocated from:  [b][b][b][b][ ][ ][ ][ ]      room for two batches
//                   full:   its older half leaves the cache, a batch
//                   empty:  up to a batch comes in
//
// A thread allocates from its own magazines and frees to them. So blocks move between threads in batches, and
// a thread that frees and allocates around a limit moves nothing. One that only frees may be limited to one
// batch, until its magazine is empty. A block goes into the cache of the thread that frees it, whichever
// thread allocated it, and is not touched there (core/magazine.hpp). A magazine has neither blocks nor room
// before the caller opens it in memory of its own choice; it chooses the length of a batch as well, and may
// choose a longer one later.
// Cost: pop and push as a magazine's, the rest O(blocks moved).
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/growth.hpp"
#include "mallard/core/magazine.hpp"
#include "mallard/core/usage.hpp"

namespace mallard {

// Most blocks of a batch.
inline constexpr std::size_t most_batch_blocks = 32;

// Blocks per batch: few enough bytes that caches stay small, enough blocks that the lock, and what it costs
// other threads, is a small share of the cost of each.
[[nodiscard]] constexpr std::size_t batch_blocks(std::size_t size) noexcept {
  return std::clamp<std::size_t>(4096 / size, 1, most_batch_blocks);
}

// Blocks of a thread's first refill: as many as fill a cache line, so that two threads' first blocks rarely
// share one.
[[nodiscard]] constexpr std::size_t first_blocks(std::size_t size) noexcept {
  return std::max<std::size_t>(cache_line / size, 1);
}

// A heap of lists that takes and gives many blocks of one list at a time: allocate_batch() writes up to
// `most` of them below a slot, the one to be used first on top, and returns their number, 0 when exhausted.
template <class Heap>
concept keeps_batches = requires(Heap h, std::size_t list, magazine::slot* end, std::size_t most,
                                 std::span<const magazine::slot> blocks) {
  { h.allocate_batch(list, end, most) } -> std::same_as<std::size_t>;
  h.deallocate_batch(list, blocks);
};

template <std::size_t Lists>
class thread_cache {
 public:
  using slot = magazine::slot;

  // Blocks of a batch as long as a thread has little to do with a list, so that its magazine is small.
  static constexpr std::size_t early_batch = 4;

  thread_cache() = default;
  thread_cache(const thread_cache&) = delete;
  thread_cache& operator=(const thread_cache&) = delete;

  // Returns a freed block, or null.
  [[nodiscard]] MALLARD_INLINE void* pop(std::size_t list) noexcept { return magazines_[list].pop(); }

  // Returns false, and does nothing, if the magazine is full or not open.
  [[nodiscard]] MALLARD_INLINE bool push(std::size_t list, void* p) noexcept {
    return magazines_[list].push(p);
  }

  // Bytes of a magazine for batches of `most` blocks, as an array of slots.
  [[nodiscard]] static constexpr std::size_t bytes_of(std::size_t most) noexcept {
    return (2 * most + magazine::marks) * sizeof(slot);
  }

  [[nodiscard]] bool is_open(std::size_t list) const noexcept { return places_[list].base != nullptr; }

  // Blocks of a batch; 0 before the magazine is open.
  [[nodiscard]] std::size_t batch_of(std::size_t list) const noexcept { return places_[list].most; }

  // Opens a magazine in the `bytes_of(most)` bytes at `memory`, which remain the caller's. The blocks of an
  // earlier one, with shorter batches, move there.
  void open(std::size_t list, void* memory, std::size_t most) noexcept {
    MALLARD_CHECK(batch_of(list) < most);
    place& at = places_[list];
    const std::span<const slot> moved{at.base, count(list)};
    at.base = static_cast<slot*>(memory) + magazine::below;
    at.most = static_cast<std::uint16_t>(most);
    at.is_narrow = at.was_full = false;
    magazines_[list].open(at.base, 2 * most);
    for (const slot block : moved) (void)push(list, reinterpret_cast<void*>(block));
  }

  // Makes room in a list of blocks of `size` bytes: for a few at first, then for two batches.
  // `place_for(align, bytes)` provides memory, or null. False if it has that room, or there is no memory for
  // it.
  template <class PlaceFor>
  bool widen(std::size_t list, std::size_t size, PlaceFor place_for) noexcept {
    const std::size_t present = batch_of(list);
    const std::size_t full = batch_blocks(size);
    if (present == full || !asks_again(list)) return false;
    const std::size_t most = present == 0 ? std::min(early_batch, full) : full;
    std::byte* const memory = place_for(cache_line, align_up(bytes_of(most), cache_line));
    if (memory == nullptr) {
      refused(list);
      return false;
    }
    open(list, memory, most);
    return true;
  }

  // Whether there was room for a block, or could be made.
  template <class PlaceFor>
  bool keep(std::size_t list, void* p, std::size_t size, PlaceFor place_for) noexcept {
    return push(list, p) || (widen(list, size, place_for) && push(list, p));
  }

  // The oldest batch of a full magazine, the oldest block first; valid until drop_oldest().
  [[nodiscard]] std::span<const slot> oldest(std::size_t list) const noexcept {
    MALLARD_CHECK(count(list) == room(list));
    return {places_[list].base, places_[list].most};
  }
  void drop_oldest(std::size_t list) noexcept {
    magazines_[list].drop_oldest(places_[list].base, places_[list].most);
  }

  // Of a magazine whose oldest batch has left: it has room for a single batch from now on, and is full, if it
  // has been full before and not empty since. Whether that is so now.
  [[nodiscard]] bool narrow_if_only_freed(std::size_t list) noexcept {
    place& at = places_[list];
    if (!std::exchange(at.was_full, true) || at.is_narrow) return false;
    at.is_narrow = true;
    magazine::end_at(at.base[at.most]);
    return true;
  }

  // The end of the slots into which blocks for an empty magazine are written: there is room for a batch
  // below.
  [[nodiscard]] slot* refill_end(std::size_t list) const noexcept {
    return places_[list].base + places_[list].most;
  }
  // The last `count` slots below that have blocks, the next one to be used last.
  void refill(std::size_t list, std::size_t count) noexcept {
    MALLARD_CHECK(this->count(list) == 0 && count <= places_[list].most);
    place& at = places_[list];
    slot* const end = refill_end(list);
    if (at.is_narrow) magazine::reach_beyond(*end);
    at.is_narrow = at.was_full = false;
    magazines_[list].fill(at.base, end - count, end);
  }

  // Blocks to fetch for an empty list: `least` at first, twice as many each time, up to `most`.
  [[nodiscard]] std::size_t wish(std::size_t list, std::size_t least, std::size_t most) noexcept {
    const std::size_t wished = std::clamp<std::size_t>(places_[list].wish, least, most);
    places_[list].wish = static_cast<std::uint16_t>(2 * wished);
    return wished;
  }

  // Removes all blocks: calls `give(list, blocks)` for each batch, and starts over with what was open.
  template <class F>
  void drain(F give) noexcept {
    for (std::size_t i = 0; i < Lists; ++i) {
      std::span<const slot> blocks{places_[i].base, count(i)};
      while (!blocks.empty()) {
        const std::size_t batch = std::min<std::size_t>(blocks.size(), places_[i].most);
        give(i, blocks.first(batch));
        blocks = blocks.subspan(batch);
      }
    }
    forget();
  }

  // Removes the blocks that `stays(block)` does not keep: calls `give(list, blocks)` for each batch of them.
  template <class Stays, class F>
  void sift(Stays stays, F give) noexcept {
    for (std::size_t i = 0; i < Lists; ++i) {
      const std::span<slot> blocks{places_[i].base, count(i)};
      const std::span<const slot> leaving = std::ranges::partition(blocks, stays);
      for (std::size_t at = 0; at < leaving.size(); at += places_[i].most)
        give(i, leaving.subspan(at, std::min<std::size_t>(leaving.size() - at, places_[i].most)));
      if (!leaving.empty()) magazines_[i].drop_newest(leaving.size());
    }
  }

  // As drain(), without giving the blocks to anybody.
  void forget() noexcept {
    for (std::size_t i = 0; i < Lists; ++i) {
      if (!is_open(i)) continue;
      magazines_[i].drop_oldest(places_[i].base, count(i));
      places_[i].wish = 0;
    }
  }

  // Blocks of a list.
  [[nodiscard]] std::size_t count(std::size_t list) const noexcept {
    return is_open(list) ? magazines_[list].count(places_[list].base) : 0;
  }

  // Calls f(block) for each block of a list.
  template <class F>
  void each(std::size_t list, F f) const noexcept {
    for (const slot block : std::span<const slot>{places_[list].base, count(list)})
      f(reinterpret_cast<const void*>(block));
  }

  // Checks that a magazine is as it was opened, and each block with `is_block(p)`.
  template <class F>
  [[nodiscard]] violation validate(std::size_t list, F is_block) const noexcept {
    const place& at = places_[list];
    if (is_open(list) ? !magazines_[list].is_intact(at.base, room(list))
                      : magazines_[list].is_open(no_slots_))
      return {"thread_cache: a magazine was overwritten"};
    bool are_blocks = true;
    each(list, [&](const void* p) { are_blocks = are_blocks && is_block(p); });
    if (!are_blocks) return {"thread_cache: a cached block is none of its heap's"};
    return {};
  }

 private:
  // What allocating and freeing do not read while a magazine is neither empty nor full.
  struct place {
    slot* base = nullptr;
    std::uint16_t most = 0;  // blocks of a batch
    std::uint16_t wish = 0;
    std::uint16_t respite = 0;
    bool was_full = false;   // since it was empty
    bool is_narrow = false;  // has room for one batch
  };

  // Blocks that a magazine has room for.
  [[nodiscard]] std::size_t room(std::size_t list) const noexcept {
    return places_[list].is_narrow ? places_[list].most : 2 * std::size_t{places_[list].most};
  }

  // Memory for a longer magazine was refused: it is not asked for again the next few hundred times.
  void refused(std::size_t list) noexcept { places_[list].respite = 255; }
  [[nodiscard]] bool asks_again(std::size_t list) noexcept {
    if (places_[list].respite == 0) return true;
    --places_[list].respite;
    return false;
  }

  magazine::no_slots no_slots_;
  std::array<magazine, Lists> magazines_ = magazine::closed(no_slots_, std::make_index_sequence<Lists>());
  std::array<place, Lists> places_{};
};

}  // namespace mallard
