// segregate<Upstream, Classes, Growth, RunGrowth, FreeList, Slab>: one free list per size class, over shared
// chunks.
//
//     size, align --Classes--> [0: 8] [1: 16] [2: 24] ... [n: largest]    free lists
//                                 \      |       |          /
//       a class's first blocks: runs of small ones, others singly;  then: slabs, up to an eighth of Slab
//                                 \         |                 /
//                                  shared_chunks: chunks, cut up
//
// It serves the sizes that have a class (Classes::serves) and returns null for others. Blocks have no
// headers: deallocate finds the class again from size and alignment. A class begins with blocks from memory
// that all classes share, so that a small heap takes few pages. When it has carved twice Slab bytes, it moves
// to slabs (class_slabs.hpp): its free list is a magazine then. Once no slab could be had for it, or it was
// asked for more adjacent blocks than a slab has, it keeps one list and takes what memory there is, until
// clear() or release(). With Slab = 0, no class has slabs.
// Memory that was carved for one class is not used for another before that, except slabs without a block in
// use: other classes with slabs take them first, the rest where there is nothing else. FreeList decides which
// freed block is reused first: intrusive_stack the newest, intrusive_queue the oldest, without slabs only.
// Cost of a pair up to Classes::small bytes: see multipool.hpp. It holds nothing until first used.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/chain.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/growth.hpp"
#include "mallard/core/intrusive_stack.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/heap/multipool/class_slabs.hpp"
#include "mallard/heap/multipool/lazy_array.hpp"
#include "mallard/heap/multipool/runs.hpp"
#include "mallard/heap/multipool/singles.hpp"
#include "mallard/layer/address_ranges.hpp"
#include "mallard/layer/bump.hpp"
#include "mallard/layer/shared_chunks.hpp"

namespace mallard {

template <heap Upstream, class Classes, growth_policy Growth, growth_policy RunGrowth,
          class FreeList = intrusive_stack, std::size_t Slab = 0>
class segregate {
  static constexpr bool has_slabs = Slab != 0;
  static_assert(!has_slabs || std::same_as<FreeList, intrusive_stack>, "slabs keep no order of frees");

 public:
  using classes = Classes;

  template <class... Args>
    requires std::constructible_from<Upstream, Args...>
  explicit segregate(Args&&... args) : shared_(std::forward<Args>(args)...) {}
  segregate(const segregate&) = delete;
  segregate& operator=(const segregate&) = delete;

  // The inline part of allocate: a freed block of a small class, or null.
  [[nodiscard]] MALLARD_INLINE block allocate_fast(std::size_t size, std::size_t align) noexcept {
    if (!Classes::is_small(size, align)) [[unlikely]]
      return {};
    const std::size_t index = Classes::small_index(size, align);
    void* const p = freed_[index].pop();
    if constexpr (has_slabs)
      if (p != nullptr) [[likely]] {
        ++room_[index];
        __builtin_prefetch(freed_[index].top());  // the next request reads its link
      }
    return {p, Classes::size(index)};
  }

  // After allocate_fast has found none: a new block of class `index`, or a freed one from its slabs. Inline
  // as far as most large ones go, which then need no stack frame.
  [[nodiscard]] MALLARD_INLINE block carve(std::size_t index) noexcept {
    if (index >= first_single && index >= slab_classes) [[likely]] {
      const std::size_t size = Classes::size(index);
      void* const p = singles_.use(index - first_single).carve(shared_, size, Classes::natural_align(size));
      if (p != nullptr) [[likely]] {
        count_taken(index, 1);
        return {p, size};
      }
    }
    return carve_slow(index);
  }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align) noexcept {
    if (!Classes::serves(size, align)) return {};
    const std::size_t index = Classes::index(size, align);
    void* const p = take_freed(index);
    return p == nullptr ? carve(index) : block{p, Classes::size(index)};
  }

  // The inline part of deallocate; false if it has done nothing.
  [[nodiscard]] MALLARD_INLINE bool deallocate_fast(void* p, std::size_t size, std::size_t align) noexcept {
    if (!Classes::is_small(size, align)) [[unlikely]]
      return false;
    const std::size_t index = Classes::small_index(size, align);
    if constexpr (has_slabs) {
      std::uint32_t room = 0;
      if (__builtin_sub_overflow(room_[index], 1U, &room)) [[unlikely]]  // one instruction less than a test
        return false;
      room_[index] = room;
    }
    freed_[index].push(p);
    return true;
  }

  void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    MALLARD_CHECK(Classes::serves(size, align));
    const std::size_t index = Classes::index(size, align);
    make_room(index, 1);
    freed_[index].push(p);
  }

  // Appends `count` blocks of one class to `out`, or none: freed ones first; of the new ones, as many as fit
  // into `contiguous` bytes are adjacent, if there is room. O(count).
  [[nodiscard]] bool allocate_burst(chain& out, std::size_t count, std::size_t size, std::size_t align,
                                    std::size_t contiguous) noexcept {
    MALLARD_CHECK(Classes::serves(size, align));
    const std::size_t index = Classes::index(size, align);
    const std::size_t received = Classes::size(index);
    std::size_t adjacent = std::clamp<std::size_t>(contiguous / received, 1, max_request / received / 2);
    if (adjacent != 1) uncarve(index, received);
    if constexpr (has_slabs)
      if (std::min(count, adjacent) > (Slab - 2 * slab::first_block) / received) keep_one_list(index);
    chain taken;
    while (count != 0 && (!freed_[index].empty() || refill(index)))
      for (; count != 0 && !freed_[index].empty(); --count) taken.push_back(take_freed(index));
    while (count != 0) {
      std::size_t blocks = std::min(count, adjacent);
      std::byte* p = carve_adjacent(index, received, blocks);
      if (p == nullptr && blocks != 1) {
        adjacent = blocks / 2;  // for the rest as well: a refused length is not tried again
        continue;
      }
      if (p == nullptr) {
        deallocate_burst(taken, received, align);
        return false;
      }
      for (count -= blocks; blocks != 0; --blocks, p += received) taken.push_back(p);
    }
    out.splice_back(taken);
    return true;
  }

  void deallocate_burst(chain& blocks, std::size_t size, std::size_t align) noexcept {
    MALLARD_CHECK(Classes::serves(size, align));
    const std::size_t index = Classes::index(size, align);
    make_room(index, blocks.size());
    freed_[index].push(blocks);
  }

  [[nodiscard]] std::size_t received_size(std::size_t size, std::size_t align) const noexcept {
    return Classes::serves(size, align) ? Classes::size(Classes::index(size, align)) : 0;
  }

  // For a request that the upstream has refused: returns the chunks that clear() has kept and that are unused
  // since; whether there were any.
  [[nodiscard]] bool give_spares_back() noexcept { return shared_.give_spares_back(); }

  // Ends all blocks; keeps all chunks.
  void clear() noexcept {
    end_blocks();
    shared_.clear();
  }

  void release() noexcept {
    end_blocks();
    shared_.release();
  }

  // Ends all blocks and drops all chunks, which their upstream ends.
  void forget() noexcept {
    end_blocks();
    shared_.forget();
  }

  [[nodiscard]] bool owns(const void* p) const noexcept { return shared_.owns(p); }

  // Statistics of the pool of class `index`, below Classes::count. O(its blocks + slabs of the heap).
  [[nodiscard]] pool_statistics statistics(std::size_t index) const noexcept {
    pool_statistics found = outside_slabs(index);
    found.carved = carved(index);
    for_each_slab([&](const slab& s) {
      if (s.index == index) found.free += s.carved(found.block_size) - s.used();
    });
    return found;
  }

  [[nodiscard]] heap_usage usage() const noexcept {
    std::size_t granted = 0;
    for_each_slab([&](const slab& s) { granted += s.used() * Classes::size(s.index); });
    // What is free of a class may lie in slabs.
    for (std::size_t i = 0; i < Classes::count; ++i) {
      const pool_statistics found = outside_slabs(i);
      granted += found.carved * found.block_size;
      granted -= found.free * found.block_size;
    }
    return {shared_.held(), granted, granted};
  }

  [[nodiscard]] address_ranges chunk_ranges() const noexcept { return shared_.chunk_ranges(); }

  // O(blocks freed log (runs + slabs + blocks freed)), in the memory of address_ranges.
  [[nodiscard]] violation validate() const noexcept {
    if (violation v = shared_.validate()) return v;
    const address_ranges chunks = shared_.chunk_ranges();
    if (violation v = validate_slabs(chunks)) return v;
    const address_ranges slabs = slab_ranges();
    for (std::size_t i = 0; i < Classes::count; ++i)
      if (violation v = validate_class(i, chunks, slabs)) return v;
    if (early_.room() != 0 && !chunks.contains(early_.cursor()))
      return {"segregate: a cursor is outside all chunks"};
    if (taken_ranges(slabs).overlap()) return {"segregate: a freed block lies in another, or in a run"};
    return {};
  }

 private:
  static constexpr std::size_t slab_size = has_slabs ? Slab : 256;  // not used if there are none
  using slab = class_slab<slab_size>;
  using memory = shared_chunks<Upstream, Growth>;
  static_assert(memory::header_size <= slab::offset);

  // Number of the classes below `size`.
  static constexpr std::size_t classes_below(std::size_t size) noexcept {
    std::size_t index = 0;
    while (index < Classes::count && Classes::size(index) < size) ++index;
    return index;
  }

  // The first class whose blocks are cut singly; Classes::count if there is none.
  static constexpr std::size_t first_single = classes_below(singles::least);

  // How many classes the inline parts serve. Each counts the frees until its magazine is full; where it has
  // one list, the blocks in use.
  static constexpr std::size_t counted = has_slabs ? classes_below(Classes::small + 1) : 0;

  // How many of them, from the smallest on, can have slabs: of a block of an eighth of a slab the seven that
  // fit beside the header would leave an eighth unused.
  static constexpr std::size_t slab_classes = std::min(counted, classes_below(Slab / 8));

  static constexpr std::uint32_t never_full = std::uint32_t{1} << 31;

  // one_list -> in_slabs -> kept, or one_list -> kept.
  enum class layout : std::uint8_t { one_list, in_slabs, kept };

  struct class_state {
    class_slabs<slab_size> slabs;
    layout kind = layout::one_list;
  };

  // The memory that classes with one list share: the first chunk, then one slab after another, cut up for
  // all. Blocks that are too large for slabs have a part in what is there, and take further slabs where there
  // is no other memory.
  struct early_memory {
    segregate& heap;
    std::size_t index;
    bool is_last = false;  // there is no other memory

    [[nodiscard]] bool is_open() const noexcept {
      return index >= slab_classes || heap.states_[index].kind == layout::one_list;
    }
    [[nodiscard]] span cut(std::size_t prefix, std::size_t align, std::size_t unit, std::size_t most,
                           std::size_t least = 1) noexcept {
      const span present = memory::cut_from(heap.early_, prefix, align, unit, most, least);
      if (present.begin != nullptr) return present;
      if (is_last ? heap.free_slabs_.empty() : index >= slab_classes && heap.first_.begin != nullptr)
        return {};
      if (!heap.renew_early(prefix + align + least * unit)) return {};
      return memory::cut_from(heap.early_, prefix, align, unit, most, least);
    }
    [[nodiscard]] void* take_slow(std::size_t size, std::size_t align) noexcept {
      return cut(0, align, size, 1).begin;
    }
  };

  [[nodiscard]] MALLARD_INLINE void* take_freed(std::size_t index) noexcept {
    void* const p = freed_[index].pop();
    if (p != nullptr) count_taken(index, 1);
    return p;
  }

  MALLARD_INLINE void count_taken(std::size_t index, std::size_t blocks) noexcept {
    if constexpr (has_slabs)
      if (index < counted) room_[index] += static_cast<std::uint32_t>(blocks);
  }

  // Before so many blocks of a class are freed.
  void make_room(std::size_t index, std::size_t blocks) noexcept {
    if constexpr (has_slabs) {
      if (index >= counted) return;
      if (blocks <= room_[index])
        room_[index] -= static_cast<std::uint32_t>(blocks);
      else
        exchange_magazine(index, blocks);
    }
  }

  MALLARD_NOINLINE void exchange_magazine(std::size_t index, std::size_t blocks) noexcept {
    room_[index] = 0;
    if (index >= slab_classes || states_[index].kind != layout::in_slabs) return;
    const std::size_t size = Classes::size(index);
    states_.use(index).slabs.exchange(freed_[index], free_slabs_, first_.begin,
                                      static_cast<std::size_t>(first_.end - first_.begin));
    const std::size_t room = class_slabs<slab_size>::magazine(size);
    room_[index] = static_cast<std::uint32_t>(room - std::min(room, blocks));
  }

  // A new place for what classes with one list carve, with room for `needed` bytes; false when exhausted.
  bool renew_early(std::size_t needed) noexcept {
    if (first_.begin == nullptr) {
      first_ = shared_.take_chunk(needed);
      early_ = bump{first_.begin, first_.end};
      return first_.begin != nullptr;
    }
    slab* const s = needed <= Slab - slab::first_block ? free_slabs_.take_shared() : nullptr;
    if (s == nullptr) return false;
    early_ = bump{s->start() + slab::first_block, s->start() + Slab};
    return true;
  }

  // Fills the empty free list of a class with freed blocks from its slabs; false if there are none.
  bool refill(std::size_t index) noexcept {
    if constexpr (has_slabs) {
      if (index >= slab_classes) return false;
      auto& state = states_.use(index);
      std::uint32_t room = never_full;
      freed_[index] = state.slabs.take_freed(Classes::size(index), room);
      if (freed_[index].empty()) return false;
      room_[index] = state.kind == layout::in_slabs ? room : never_full;
      return true;
    }
    return false;
  }

  // From now on the class has one free list, and its blocks come from anywhere.
  void keep_one_list(std::size_t index) noexcept {
    if (index >= slab_classes) return;
    states_.use(index).kind = layout::kept;
    room_[index] = never_full;
  }

  [[nodiscard]] std::size_t carved_outside_slabs(std::size_t index) const noexcept {
    return index < first_single ? runs_[index].carved(Classes::size(index))
                                : singles_[index - first_single].carved();
  }

  [[nodiscard]] std::size_t carved(std::size_t index) const noexcept {
    std::size_t blocks = carved_outside_slabs(index);
    for_each_slab([&](const slab& s) {
      if (s.index == index) blocks += s.carved(Classes::size(index));
    });
    return blocks;
  }

  // Whether the class has only ever had one list. It moves to slabs when it has carved as much as two of
  // them: what the newest one has left is a small part then.
  bool has_one_list(std::size_t index) noexcept {
    if (states_[index].kind != layout::one_list) return false;
    const std::size_t size = Classes::size(index);
    if (carved_outside_slabs(index) * size < 2 * Slab) [[likely]]
      return true;
    states_.use(index).kind = layout::in_slabs;
    room_[index] = class_slabs<slab_size>::magazine(size);
    return false;
  }

  // From slabs, a run, or another place than the last single block.
  MALLARD_NOINLINE block carve_slow(std::size_t index) noexcept {
    const std::size_t size = Classes::size(index);
    if constexpr (has_slabs)
      if (index < slab_classes && !has_one_list(index))
        if (refill(index) || (states_[index].kind == layout::in_slabs && carve_in_slabs(index)))
          return {take_freed(index), size};
    void* p = nullptr;
    if constexpr (has_slabs) {
      if (early_memory early{*this, index}; early.is_open()) p = carve_from(early, index, size);
      if (p == nullptr) p = carve_elsewhere(index, size);
    } else {
      p = carve_from(shared_, index, size);
    }
    if (p == nullptr) return {};
    count_taken(index, 1);
    return {p, size};
  }

  // Where the memory that classes with one list share has no room.
  MALLARD_NOINLINE void* carve_elsewhere(std::size_t index, std::size_t size) noexcept {
    keep_one_list(index);
    if (void* const p = carve_from(shared_, index, size); p != nullptr) return p;
    early_memory last{*this, index, true};
    return carve_from(last, index, size);
  }

  template <class From>
  MALLARD_INLINE void* carve_from(From& from, std::size_t index, std::size_t size) noexcept {
    const std::size_t align = Classes::natural_align(size);
    return index < first_single ? runs_.use(index).template carve<RunGrowth>(from, size, align, freed_[index])
                                : singles_.use(index - first_single).carve_slow(from, size, align);
  }

  // Fills the empty free list of a class with new blocks of a slab. False when no slab can be had: the class
  // keeps one list then.
  bool carve_in_slabs(std::size_t index) noexcept {
    const std::size_t size = Classes::size(index);
    freed_[index] = states_.use(index).slabs.carve(size, index, free_slabs_);
    room_[index] = class_slabs<slab_size>::magazine(size);
    if (!freed_[index].empty()) return true;
    keep_one_list(index);
    return false;
  }

  std::byte* carve_adjacent(std::size_t index, std::size_t size, std::size_t count) noexcept {
    if constexpr (has_slabs)
      if (index < slab_classes && !has_one_list(index) && states_[index].kind == layout::in_slabs) {
        std::byte* const p =
            states_.use(index).slabs.carve_adjacent(size, index, count, free_slabs_, freed_[index]);
        if (p != nullptr) room_[index] = class_slabs<slab_size>::magazine(size);
        if (p != nullptr || count != 1) return p;
        keep_one_list(index);
      }
    std::byte* p = nullptr;
    if constexpr (has_slabs) {
      if (early_memory early{*this, index}; early.is_open())
        p = carve_adjacent_from(early, index, size, count);
      if (p == nullptr) keep_one_list(index);
    }
    if (p == nullptr) p = carve_adjacent_from(shared_, index, size, count);
    if (p != nullptr) count_taken(index, count);
    return p;
  }

  template <class From>
  std::byte* carve_adjacent_from(From& from, std::size_t index, std::size_t size,
                                 std::size_t count) noexcept {
    const std::size_t align = Classes::natural_align(size);
    if (index >= first_single)
      return singles_.use(index - first_single).carve_adjacent(from, size, align, count);
    return runs_.use(index).template carve_adjacent<RunGrowth>(from, size, align, count, freed_[index]);
  }

  void uncarve(std::size_t index, std::size_t size) noexcept {
    if constexpr (has_slabs)
      if (index < slab_classes && states_[index].kind == layout::in_slabs)
        return states_.use(index).slabs.uncarve(size, freed_[index]);
    if (index < first_single) runs_.use(index).uncarve(size, freed_[index]);
  }

  // Blocks carved outside slabs, and all free ones that are in no slab's list.
  [[nodiscard]] pool_statistics outside_slabs(std::size_t index) const noexcept {
    std::size_t waiting = freed_[index].count();
    if (index < slab_classes) waiting += states_[index].slabs.waiting();
    return {Classes::size(index), carved_outside_slabs(index), waiting};
  }

  template <class F>
  void for_each_slab(F f) const noexcept {
    if constexpr (has_slabs)
      shared_.for_each_aligned(Slab, [&](const std::byte* start) {
        const slab& s = *slab::of(start);
        if (!s.is_shared) f(s);
      });
  }

  // Whether the headers and lists of all slabs are intact.
  [[nodiscard]] violation validate_slabs(const address_ranges& chunks) const noexcept {
    violation found;
    std::size_t count = 0;
    for_each_slab([&](const slab& s) {
      ++count;
      if (found) return;
      if (!chunks.contains(&s))
        found = {"segregate: a slab lies outside the chunks"};
      else if (s.index >= std::max<std::size_t>(slab_classes, 1))
        found = {"segregate: a slab is of no class"};
      else
        found = s.validate(Classes::size(s.index));
    });
    for (std::size_t i = 0; i < slab_classes && !found; ++i) found = states_[i].slabs.validate_list(i, count);
    return found;
  }

  // Calls `f` with each free block of a class that is in no slab's list, until it returns false.
  template <class F>
  void for_each_waiting(std::size_t index, F f) const noexcept {
    const auto walk = [&](const auto& list) {
      for (const void* p = list.top(); p != nullptr; p = FreeList::next(p))
        if (!f(p)) return false;
      return true;
    };
    if (walk(freed_[index]) && index < slab_classes)
      (void)(walk(states_[index].slabs.previous()) && walk(states_[index].slabs.early()));
  }

  [[nodiscard]] address_ranges slab_ranges() const noexcept {
    return address_ranges(
        [this](auto f) { this->for_each_slab([&](const slab& s) { f(s.start(), slab_size); }); });
  }

  // Whether the free blocks of a class can be its own. Each is looked up before its link is followed. Of
  // blocks cut singly only the number is known.
  [[nodiscard]] violation validate_class(std::size_t index, const address_ranges& chunks,
                                         const address_ranges& slabs) const noexcept {
    const std::size_t size = Classes::size(index);
    const std::size_t align = Classes::natural_align(size);
    if (index < first_single)
      if (violation v = runs_[index].validate(chunks, size, align)) return v;
    const address_ranges in_runs =
        index < first_single ? runs_[index].carved_ranges() : address_ranges([](auto) {});
    std::size_t blocks = carved(index);
    violation found;
    for_each_waiting(index, [&](const void* p) {
      if (blocks-- == 0)
        found = {"segregate: more blocks are freed than were carved: a circle"};
      else if (!is_aligned(p, align))
        found = {"segregate: a freed block is misaligned"};
      else if (slabs.contains(p))
        found = {slab::of(p)->index == index && slab::of(p)->has_block_at(p, size)
                     ? nullptr
                     : "segregate: a freed block is of another class"};
      else if (index < first_single
                   ? !in_runs.contains(p, size)
                   : !chunks.contains(p) || !chunks.contains(static_cast<const std::byte*>(p) + size - 1))
        found = {"segregate: a freed block is none of the heap's"};
      return !found;
    });
    return found;
  }

  // The address ranges of runs, and of free blocks that are in none: no two may overlap. Precondition: the
  // free lists are intact.
  [[nodiscard]] address_ranges taken_ranges(const address_ranges& slabs) const noexcept {
    return address_ranges([&](auto f) {
      for (std::size_t i = 0; i < first_single; ++i) runs_[i].for_each(f);
      for_each_slab([&](const slab& s) {
        for (const chain::node* n = s.freed; n != nullptr; n = n->next) f(n, Classes::size(s.index));
      });
      for (std::size_t i = 0; i < Classes::count; ++i)
        for_each_waiting(i, [&](const void* p) {
          if (i >= first_single || slabs.contains(p)) f(p, Classes::size(i));
          return true;
        });
    });
  }

  void end_blocks() noexcept {
    freed_.fill({});
    runs_.clear();
    singles_.clear();
    if constexpr (has_slabs) {
      room_.fill(0);
      states_.clear();
      free_slabs_.forget();
      first_ = {};
      early_ = {};
    }
  }

  // Apart from the source of new blocks, so that one scaled load finds a list.
  std::array<FreeList, Classes::count> freed_{};
  std::array<std::uint32_t, counted> room_{};  // frees until a class's magazine is full
  lazy_array<runs, std::max<std::size_t>(first_single, 1)> runs_;
  lazy_array<singles, std::max<std::size_t>(Classes::count - first_single, 1)> singles_;
  lazy_array<class_state, std::max<std::size_t>(slab_classes, 1)> states_;
  memory shared_;
  free_slabs<slab_size, memory> free_slabs_{shared_};
  span first_;  // the room of the first chunk, which all classes share
  bump early_;  // what is left there, or in the newest slab that classes share
};

}  // namespace mallard
