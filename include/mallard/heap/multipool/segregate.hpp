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
// headers: deallocate finds the class again from size and alignment.
// With slabs, each class that the inline parts serve has a magazine (magazine.hpp) in front of what is free.
// A class begins with blocks from memory that all classes share, so that a small heap takes few pages, a free
// list for what its magazine has no room for, and eight slots. When it has carved twice Slab bytes, it moves
// to slabs (class_slabs.hpp). If no slab can be had for it, or it is asked for more adjacent blocks than a
// slab has, it keeps the list from then on and takes what memory there is, until clear() or release(). With
// Slab = 0, no class has slabs or a magazine. Memory that was carved for one class is not used for another
// before that, except slabs without a block in use: other classes with slabs take them first, the rest where
// there is nothing else. FreeList decides which freed block is reused first: intrusive_stack the newest,
// intrusive_queue the oldest, without slabs only. Cost of a pair up to Classes::small bytes: see
// multipool.hpp. It holds nothing until first used.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/chain.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/growth.hpp"
#include "mallard/core/intrusive_stack.hpp"
#include "mallard/core/magazine.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/heap/multipool/lazy_array.hpp"
#include "mallard/heap/multipool/runs.hpp"
#include "mallard/layer/address_ranges.hpp"
#include "mallard/layer/bump.hpp"
#include "mallard/layer/class_slabs.hpp"
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
    requires constructible_as_root<Upstream, Args...>
  explicit segregate(Args&&... args) : shared_(std::forward<Args>(args)...) {}
  segregate(const segregate&) = delete;
  segregate& operator=(const segregate&) = delete;

  // The inline part of allocate: a freed block of a small class, or null.
  [[nodiscard]] MALLARD_INLINE block allocate_fast(std::size_t size, std::size_t align) noexcept {
    if (!Classes::is_small(size, align)) [[unlikely]]
      return {};
    const std::size_t index = Classes::small_index(size, align);
    if constexpr (has_slabs)
      return {magazines_[index].pop(), Classes::size(index)};
    else
      return {inline_.freed[index].pop(), Classes::size(index)};
  }

  // After allocate_fast has found none: a new block of class `index`, or a freed one from its list or slabs.
  // It is inline as far as most that are cut singly need it, so that these take no stack frame.
  [[nodiscard]] MALLARD_INLINE block carve(std::size_t index) noexcept {
    if (index >= first_single) [[likely]] {
      const std::size_t size = Classes::size(index);
      if (void* const p = carve_single(index, size); p != nullptr) [[likely]]
        return {p, size};
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
      return magazines_[index].push(p);
    } else {
      inline_.freed[index].push(p);
      return true;
    }
  }

  void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    MALLARD_CHECK(Classes::serves(size, align));
    const std::size_t index = Classes::index(size, align);
    if constexpr (has_slabs)
      if (index < magazine_classes) {
        if (!magazines_[index].push(p)) push_slow(index, p);
        return;
      }
    list(index).push(p);
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
      if (index < slab_classes && std::min(count, adjacent) > slab::capacity_of(received))
        keep_one_list(index);
    chain taken;
    for (void* p = nullptr; count != 0 && (p = take_freed(index)) != nullptr; --count) taken.push_back(p);
    if constexpr (has_slabs)
      if (index < slab_classes) count -= take_used(taken, count, index);
    while (count != 0) {
      std::size_t blocks = std::min(count, adjacent);
      std::byte* p = carve_adjacent(index, received, blocks);
      if (p == nullptr && blocks != 1) {
        adjacent = blocks / 2;  // for the rest as well: a refused length is not tried again
        continue;
      }
      if (p == nullptr) p = static_cast<std::byte*>(take_freed(index));  // what carve_slow has refilled
      if (p == nullptr) p = static_cast<std::byte*>(carve_slow(index).data);
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
    if constexpr (has_slabs)
      if (index < slab_classes && states_[index].kind == layout::in_slabs)
        while (!blocks.empty()) {
          const magazine::slot freed = address_of(blocks.pop_front());
          put_in_slabs(states_.use(index), {&freed, 1});
        }
    list(index).push(blocks);
  }

  // As in multipool: past the magazines, of which the class has none then.
  [[nodiscard]] std::size_t allocate_batch(std::size_t index, magazine::slot* end, std::size_t most) noexcept
    requires(has_slabs)
  {
    FreeList& freed = list(index);
    const bool carves = freed.empty();
    std::size_t taken = 0;
    if (carves && index < slab_classes)
      if (class_state& state = states_.use(index); !has_one_list(index, state))
        while (taken != most && has_blocks_in_slabs(index, state))
          taken += state.slabs.take(end - taken, most - taken, Classes::size(index));
    if (taken != 0) return taken;
    while (taken != most) {
      void* p = freed.pop();
      if (p == nullptr && carves) p = carve_outside_slabs(index);
      if (p == nullptr) break;
      *(end - ++taken) = address_of(p);
    }
    return taken;
  }

  void deallocate_batch(std::size_t index, std::span<const magazine::slot> blocks) noexcept
    requires(has_slabs)
  {
    if (index < magazine_classes) return put_back(states_.use(index), blocks);
    FreeList& freed = list(index);
    for (const magazine::slot block : blocks) freed.push(reinterpret_cast<void*>(block));
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
      if (s.index == index) found.free += s.carved - s.used();
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

  // O(blocks freed log (runs + slabs + blocks freed) + classes * slabs), in the memory of address_ranges.
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
    if (waiting_ranges().overlap()) return {"segregate: a block was freed twice"};
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

  // How many classes the inline parts serve, from the smallest on; all that are cut into runs are among them.
  static constexpr std::size_t inline_classes = Classes::small_index(Classes::small, 1) + 1;
  static_assert(first_single <= inline_classes);

  // How many classes have a magazine: those that the inline parts serve.
  static constexpr std::size_t magazine_classes = has_slabs ? inline_classes : 0;

  // How many of them, from the smallest on, can have slabs: of blocks of an eighth of a slab, the seven that
  // fit beside the header would leave an eighth unused.
  static constexpr std::size_t slab_classes = std::min(magazine_classes, classes_below(Slab / 8));

  // Slots of the magazine of a class with one list: a cache line of pointers.
  static constexpr std::size_t early_slots = 8;

  // one_list -> in_slabs -> kept, or one_list -> kept.
  enum class layout : std::uint8_t { one_list, in_slabs, kept };

  // Of a class with a magazine.
  struct class_state {
    class_slabs<slab_size> slabs;
    FreeList freed;
    magazine::slot* base = nullptr;  // of its magazine, which is closed before
    std::uint32_t slots = 0;
    std::uint32_t refused = 0;  // slots that there was no memory for, and that are not asked for again
    layout kind = layout::one_list;
    runs in_runs;    // what it has carved outside slabs, below first_single
    singles singly;  // the same, from first_single on
  };

  // Of the classes that the inline parts serve, without slabs. Lists lie side by side, so that one scaled
  // load finds one. Both are written from the start: whether a class is new cannot be predicted. One object,
  // as gcc clears each array by a `rep stos` of its own.
  struct inline_state {
    std::array<FreeList, has_slabs ? 0 : inline_classes> freed{};
    std::array<singles, has_slabs ? 0 : inline_classes - first_single> singly{};
  };

  // Of a class that the inline parts do not serve.
  struct rare_state {
    FreeList freed;
    singles singly;
  };

  // The memory that classes with one list share: the first chunk, then one slab after another, cut up for
  // all. Blocks that are too large for slabs have a part in what is there, and take further slabs where there
  // is no other memory.
  struct early_memory {
    segregate& heap;
    std::size_t index;
    bool is_last = false;  // there is no other memory

    [[nodiscard]] span cut(std::size_t prefix, std::size_t align, std::size_t unit, std::size_t most,
                           std::size_t least = 1) noexcept {
      const span present = memory::cut_from(heap.early_, prefix, align, unit, most, least);
      if (present.begin != nullptr || !renew(prefix + align + least * unit)) return present;
      return memory::cut_from(heap.early_, prefix, align, unit, most, least);
    }
    [[nodiscard]] MALLARD_INLINE void* take(std::size_t size, std::size_t align) noexcept {
      void* taken = nullptr;
      return heap.early_.take(size, align, taken) ? taken : nullptr;
    }
    [[nodiscard]] MALLARD_INLINE void* take_slow(std::size_t size, std::size_t align) noexcept {
      void* const taken = take(size, align);
      return taken == nullptr && renew(align + size) ? take(size, align) : taken;
    }

   private:
    // Whether there is a new place with room for `needed` bytes.
    bool renew(std::size_t needed) noexcept {
      if (heap.first_.begin != nullptr && (is_last ? heap.free_slabs_.empty() : index >= slab_classes))
        return false;
      return heap.renew_early(needed);
    }
  };

  // What a class has carved outside slabs: one below first_single in runs, another singly.
  [[nodiscard]] MALLARD_INLINE runs& runs_of(std::size_t index) noexcept {
    if constexpr (has_slabs)
      return states_.use(index).in_runs;
    else
      return runs_.use(index);
  }
  [[nodiscard]] const runs& runs_of(std::size_t index) const noexcept {
    if constexpr (has_slabs)
      return states_[index].in_runs;
    else
      return runs_[index];
  }
  [[nodiscard]] MALLARD_INLINE singles& singles_of(std::size_t index) noexcept {
    if (index >= inline_classes) return rare_.use(index - inline_classes).singly;
    if constexpr (has_slabs)
      return states_.use(index).singly;
    else
      return inline_.singly[index - first_single];
  }
  [[nodiscard]] const singles& singles_of(std::size_t index) const noexcept {
    if (index >= inline_classes) return rare_[index - inline_classes].singly;
    if constexpr (has_slabs)
      return states_[index].singly;
    else
      return inline_.singly[index - first_single];
  }

  // The free list of a class: what is neither in its magazine nor in its slabs.
  [[nodiscard]] MALLARD_INLINE FreeList& list(std::size_t index) noexcept {
    if (index >= inline_classes) return rare_.use(index - inline_classes).freed;
    if constexpr (has_slabs)
      return states_.use(index).freed;
    else
      return inline_.freed[index];
  }
  [[nodiscard]] const FreeList& list(std::size_t index) const noexcept {
    if (index >= inline_classes) return rare_[index - inline_classes].freed;
    if constexpr (has_slabs)
      return states_[index].freed;
    else
      return inline_.freed[index];
  }

  // A freed block that is not in a slab; null if there is none.
  [[nodiscard]] MALLARD_INLINE void* take_freed(std::size_t index) noexcept {
    if constexpr (has_slabs)
      if (index < magazine_classes)
        if (void* const p = magazines_[index].pop(); p != nullptr) return p;
    return list(index).pop();
  }

  // For a freed block where the magazine has no room: its older half goes to the slabs, or to the free list.
  MALLARD_NOINLINE void push_slow(std::size_t index, void* p) noexcept {
    class_state& state = states_.use(index);
    if (state.base == nullptr) {
      const magazine::slot alone = address_of(p);
      return put_back(state, {&alone, 1});
    }
    const std::span<const magazine::slot> older(state.base, state.slots / 2);
    put_back(state, older);
    magazines_[index].drop_oldest(state.base, older.size());
    (void)magazines_[index].push(p);
  }

  // Freed blocks, the newest last, go where they wait outside the magazine.
  void put_back(class_state& state, std::span<const magazine::slot> blocks) noexcept {
    if (state.kind == layout::in_slabs) return put_in_slabs(state, blocks);
    for (const magazine::slot block : blocks) state.freed.push(reinterpret_cast<void*>(block));
  }

  void put_in_slabs(class_state& state, std::span<const magazine::slot> blocks) noexcept {
    state.slabs.put(blocks, free_slabs_, first_.begin, static_cast<std::size_t>(first_.end - first_.begin),
                    state.freed);
  }

  // For a burst: blocks from slabs that were in use before, up to `most`; returns their number.
  std::size_t take_used(chain& taken, std::size_t most, std::size_t index) noexcept {
    std::array<magazine::slot, 64> found;
    std::size_t count = 0;
    for (std::size_t more = 1; more != 0 && count != most; count += more) {
      more = states_.use(index).slabs.take(found.data() + found.size(), std::min(most - count, found.size()),
                                           Classes::size(index), true);
      for (std::size_t i = 1; i <= more; ++i)
        taken.push_back(reinterpret_cast<void*>(found[found.size() - i]));
    }
    return count;
  }

  // A new place for what classes with one list carve, with room for `needed` bytes; false when exhausted.
  bool renew_early(std::size_t needed) noexcept {
    if (first_.begin == nullptr) {
      first_ = shared_.take_chunk(needed);
      early_ = bump{first_.begin, first_.end};
      return first_.begin != nullptr;
    }
    slab* const s = needed <= Slab - slab::shared_block ? free_slabs_.take_shared() : nullptr;
    if (s == nullptr) return false;
    early_ = bump{s->start() + slab::shared_block, s->start() + Slab};
    return true;
  }

  // Gives the class, whose magazine is empty, one with `slots` slots, within bounds, unless it has as many.
  // Without memory it keeps what it has.
  MALLARD_NOINLINE void widen_magazine(std::size_t index, class_state& state, std::size_t slots) noexcept {
    slots = std::clamp(slots, early_slots, class_slabs<slab_size>::slots(Classes::size(index)));
    if (slots <= std::max(state.slots, state.refused)) return;
    early_memory from{*this, 0};
    std::byte* place = from.cut(0, alignof(magazine::slot), magazine_bytes(slots), 1).begin;
    if (place == nullptr) place = shared_.cut(0, alignof(magazine::slot), magazine_bytes(slots), 1).begin;
    if (place != nullptr)
      open_magazine(index, state, place, slots);
    else
      state.refused = static_cast<std::uint32_t>(slots);
  }

  // Behind the first blocks, mostly.
  MALLARD_INLINE void open_first_magazine(std::size_t index, class_state& state) noexcept {
    void* place = nullptr;
    if (early_.take(magazine_bytes(early_slots), alignof(magazine::slot), place)) [[likely]]
      open_magazine(index, state, place, early_slots);
    else
      widen_magazine(index, state, early_slots);
  }

  static constexpr std::size_t magazine_bytes(std::size_t slots) noexcept {
    return (slots + magazine::marks) * sizeof(magazine::slot);
  }

  MALLARD_INLINE void open_magazine(std::size_t index, class_state& state, void* place,
                                    std::size_t slots) noexcept {
    state.base = static_cast<magazine::slot*>(place) + magazine::below;
    state.slots = static_cast<std::uint32_t>(slots);
    magazines_[index].open(state.base, slots);
  }

  // Fills the empty magazine of a class with freed blocks, or with new ones of slabs, and takes the first;
  // null if there are none.
  MALLARD_INLINE void* refill(std::size_t index, class_state& state) noexcept {
    if (!state.freed.empty()) return refill_from_list(index, state);
    return index >= slab_classes || has_one_list(index, state) ? nullptr : refill_from_slabs(index, state);
  }

  // Whether the class's slabs have blocks, if need be in a new one. Precondition: it has left its first
  // layout.
  bool has_blocks_in_slabs(std::size_t index, class_state& state) noexcept {
    if (state.slabs.empty() && state.kind == layout::in_slabs &&
        !state.slabs.add(index, Classes::size(index), free_slabs_))
      keep_one_list(index);
    return !state.slabs.empty();
  }

  MALLARD_NOINLINE void* refill_from_slabs(std::size_t index, class_state& state) noexcept {
    const std::size_t size = Classes::size(index);
    if (!has_blocks_in_slabs(index, state)) return nullptr;
    widen_magazine(index, state, class_slabs<slab_size>::slots(size));
    magazine::slot alone = 0;
    if (state.base == nullptr)
      return state.slabs.take(&alone + 1, 1, size) == 0 ? nullptr : reinterpret_cast<void*>(alone);
    magazine::slot* const end = state.base + state.slots / 2;
    const std::size_t taken = state.slabs.take(end, state.slots / 2, size);
    magazines_[index].fill(state.base, end - taken, end);
    return magazines_[index].pop();
  }

  MALLARD_NOINLINE void* refill_from_list(std::size_t index, class_state& state) noexcept {
    widen_magazine(index, state, std::bit_floor(carved_outside_slabs(index) / 8));
    if (state.base == nullptr) return state.freed.pop();
    magazine::slot* const end = state.base + state.slots / 2;
    magazine::slot* first = end;
    while (first != state.base && !state.freed.empty()) *--first = address_of(state.freed.pop());
    magazines_[index].fill(state.base, first, end);
    return magazines_[index].pop();
  }

  // From now on the class has one free list, and its blocks come from anywhere. As no free goes to a slab any
  // more, all that is free there is at hand. O(slabs of the heap), once.
  MALLARD_NOINLINE void keep_one_list(std::size_t index) noexcept {
    if (index >= slab_classes) return;
    class_state& state = states_.use(index);
    if (std::exchange(state.kind, layout::kept) != layout::in_slabs) return;
    for_each_slab([&](const slab& s) {
      if (s.index == index && s.capacity != 0) state.slabs.relist(slab::of(&s));
    });
  }

  [[nodiscard]] std::size_t carved_outside_slabs(std::size_t index) const noexcept {
    return index < first_single ? runs_of(index).carved(Classes::size(index)) : singles_of(index).carved();
  }

  [[nodiscard]] std::size_t carved(std::size_t index) const noexcept {
    std::size_t blocks = carved_outside_slabs(index);
    for_each_slab([&](const slab& s) {
      if (s.index == index) blocks += s.carved;
    });
    return blocks;
  }

  // Whether the class has only ever had one list. It moves to slabs when it has carved as much as two of
  // them: what the newest one has left is a small part then.
  bool has_one_list(std::size_t index, class_state& state) noexcept {
    if (state.kind != layout::one_list) return false;
    if (carved_outside_slabs(index) * Classes::size(index) < 2 * Slab) [[likely]]
      return true;
    state.kind = layout::in_slabs;
    return false;
  }

  // A new block behind what was cut last, as most are in a heap that only grows; null if it does not fit
  // there, its class is to have a magazine first, or it is to come from a free list or a slab.
  [[nodiscard]] MALLARD_INLINE void* carve_single(std::size_t index, std::size_t size) noexcept {
    const std::size_t align = Classes::natural_align(size);
    if constexpr (has_slabs)
      if (index < magazine_classes) {
        if (!states_.has_begun(index)) return nullptr;
        class_state& state = states_.use(index);
        if (state.base == nullptr || !state.freed.empty() ||
            (index < slab_classes && !has_one_list(index, state)))
          return nullptr;
        early_memory early{*this, index};
        return state.singly.carve(early, size, align);
      }
    return singles_of(index).carve(shared_, size, align);
  }

  // From a free list, slabs, a run, or another place than the last block; a class that is to have a magazine
  // gets it.
  MALLARD_NOINLINE block carve_slow(std::size_t index) noexcept {
    const std::size_t size = Classes::size(index);
    void* p = nullptr;
    if constexpr (has_slabs) {
      if (index >= magazine_classes) {
        p = carve_early(index, size, list(index));
        if (p == nullptr) p = carve_elsewhere(index, size);
      } else {
        const bool is_new = !states_.has_begun(index);
        class_state& state = states_.use(index);
        if (!is_new) p = refill(index, state);
        if (p == nullptr && is_early(index, state)) p = carve_early(index, size, state.freed);
        if (p == nullptr) p = carve_elsewhere(index, size);
        if (state.base == nullptr && p != nullptr) open_first_magazine(index, state);
      }
    } else {
      p = carve_from(shared_, index, size, list(index));
    }
    return {p, p == nullptr ? 0 : size};
  }

  // Null when exhausted.
  void* carve_outside_slabs(std::size_t index) noexcept {
    const std::size_t size = Classes::size(index);
    void* p = nullptr;
    if (index >= magazine_classes || is_early(index, states_.use(index)))
      p = carve_early(index, size, list(index));
    return p != nullptr ? p : carve_elsewhere(index, size);
  }

  // Whether the class takes new blocks from the memory that classes with one list share.
  static bool is_early(std::size_t index, const class_state& state) noexcept {
    return index >= slab_classes || state.kind == layout::one_list;
  }

  MALLARD_INLINE void* carve_early(std::size_t index, std::size_t size, FreeList& freed) noexcept {
    early_memory early{*this, index};
    return carve_from(early, index, size, freed);
  }

  // Where that has no room.
  MALLARD_NOINLINE void* carve_elsewhere(std::size_t index, std::size_t size) noexcept {
    keep_one_list(index);
    if (void* const p = carve_from(shared_, index, size, list(index)); p != nullptr) return p;
    early_memory last{*this, index, true};
    return carve_from(last, index, size, list(index));
  }

  template <class From>
  MALLARD_INLINE void* carve_from(From& from, std::size_t index, std::size_t size, FreeList& freed) noexcept {
    const std::size_t align = Classes::natural_align(size);
    return index < first_single ? runs_of(index).template carve<RunGrowth>(from, size, align, freed)
                                : singles_of(index).carve_slow(from, size, align);
  }

  std::byte* carve_adjacent(std::size_t index, std::size_t size, std::size_t count) noexcept {
    if constexpr (has_slabs) {
      early_memory early{*this, index};
      if (index >= slab_classes) {
        if (std::byte* const p = carve_adjacent_from(early, index, size, count); p != nullptr) return p;
      } else if (class_state& state = states_.use(index); state.kind != layout::kept) {
        if (has_one_list(index, state))
          if (std::byte* const p = carve_adjacent_from(early, index, size, count); p != nullptr) return p;
        state.kind = layout::in_slabs;
        std::byte* const p = state.slabs.take_adjacent(count, index, size, free_slabs_);
        if (p != nullptr) return p;
        keep_one_list(index);
      }
    }
    return carve_adjacent_from(shared_, index, size, count);
  }

  template <class From>
  std::byte* carve_adjacent_from(From& from, std::size_t index, std::size_t size,
                                 std::size_t count) noexcept {
    const std::size_t align = Classes::natural_align(size);
    if (index >= first_single) return singles_of(index).carve_adjacent(from, size, align, count);
    return runs_of(index).template carve_adjacent<RunGrowth>(from, size, align, count, list(index));
  }

  // Undoes what was carved ahead of need, so that adjacent blocks can start there.
  void uncarve(std::size_t index, std::size_t size) noexcept {
    if constexpr (has_slabs)
      if (index < slab_classes && states_[index].kind == layout::in_slabs && states_[index].base != nullptr) {
        class_state& state = states_.use(index);
        const std::size_t waiting = magazines_[index].count(state.base);
        magazines_[index].drop_oldest(state.base, state.slabs.untake({state.base, waiting}));
      }
    if (index < first_single) runs_of(index).uncarve(size, list(index));
  }

  // Blocks carved outside slabs, and all free ones that are in no slab's list.
  [[nodiscard]] pool_statistics outside_slabs(std::size_t index) const noexcept {
    std::size_t waiting = list(index).count();
    if constexpr (has_slabs)
      if (index < magazine_classes && states_[index].base != nullptr)
        waiting += magazines_[index].count(states_[index].base);
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
    if constexpr (has_slabs)
      if (!found) found = free_slabs_.validate(chunks, count);
    for (std::size_t i = 0; i < slab_classes && !found; ++i) found = states_[i].slabs.validate_list(i, count);
    return found;
  }

  // Calls `f` with each free block of a class that is not in a slab, until it returns false. Precondition:
  // its magazine is intact.
  template <class F>
  void for_each_waiting(std::size_t index, F f) const noexcept {
    if constexpr (has_slabs)
      if (index < magazine_classes)
        if (const class_state& state = states_[index]; state.base != nullptr)
          for (std::size_t i = magazines_[index].count(state.base); i-- != 0;)
            if (!f(reinterpret_cast<const void*>(state.base[i]))) return;
    for (const void* p = list(index).top(); p != nullptr; p = FreeList::next(p))
      if (!f(p)) return;
  }

  // Whether the magazine of a class is where it was opened, and nobody wrote to its marks.
  [[nodiscard]] bool has_intact_magazine(std::size_t index) const noexcept {
    if constexpr (has_slabs) {
      if (index >= magazine_classes) return true;
      const class_state& state = states_[index];
      return state.base == nullptr ? !magazines_[index].is_open(no_slots_)
                                   : magazines_[index].is_intact(state.base, state.slots);
    }
    return true;
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
      if (violation v = runs_of(index).validate(chunks, size, align)) return v;
    const address_ranges in_runs =
        index < first_single ? runs_of(index).carved_ranges() : address_ranges([](auto) {});
    if (!has_intact_magazine(index)) return {"segregate: a magazine was overwritten"};
    std::size_t blocks = carved(index);
    violation found;
    for_each_waiting(index, [&](const void* p) {
      if (blocks-- == 0)
        found = {"segregate: more blocks are freed than were carved: a circle"};
      else if (!is_aligned(p, align))
        found = {"segregate: a freed block is misaligned"};
      else if (slabs.contains(p))
        found = {slab::of(p)->index == index && slab::of(p)->has_block_at(p, size) &&
                         !slab::of(p)->has_free(p)
                     ? nullptr
                     : "segregate: a freed block is of another class, or freed twice"};
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
      for (std::size_t i = 0; i < first_single; ++i) runs_of(i).for_each(f);
      for (std::size_t i = 0; i < Classes::count; ++i)
        for_each_waiting(i, [&](const void* p) {
          if (i >= first_single || slabs.contains(p)) f(p, Classes::size(i));
          return true;
        });
    });
  }

  // The address ranges of free blocks that are in no slab.
  [[nodiscard]] address_ranges waiting_ranges() const noexcept {
    return address_ranges([&](auto f) {
      for (std::size_t i = 0; i < Classes::count; ++i)
        for_each_waiting(i, [&](const void* p) {
          f(p, Classes::size(i));
          return true;
        });
    });
  }

  void end_blocks() noexcept {
    inline_ = {};
    runs_.clear();
    rare_.clear();
    if constexpr (has_slabs) {
      magazines_.fill(magazine(no_slots_));
      states_.clear();
      free_slabs_.forget();
      first_ = {};
      early_ = {};
    }
  }

  // Of classes that the inline parts serve, with slabs.
  magazine::no_slots no_slots_;  // of magazines that are not open
  // In front of the lists; aligned, as each life writes all of them, two at a time.
  alignas(2 * sizeof(magazine)) std::array<magazine, magazine_classes> magazines_ =
      magazine::closed(no_slots_, std::make_index_sequence<magazine_classes>());
  lazy_array<class_state, magazine_classes> states_;
  // The same without slabs.
  inline_state inline_{};
  lazy_array<runs, has_slabs ? 0 : first_single> runs_;
  lazy_array<rare_state, Classes::count - inline_classes> rare_;  // of all others
  memory shared_;
  free_slabs<slab_size, memory> free_slabs_{shared_};
  span first_;  // the room of the first chunk, which all classes share
  bump early_;  // what is left there, or in the newest slab that classes share
};

}  // namespace mallard
