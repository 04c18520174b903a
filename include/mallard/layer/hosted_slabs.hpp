// hosted_slabs<Host, Granule, Limit, Tail, LeastGrown>: slabs for the small blocks of a heap that has blocks
// of all sizes, in blocks of that heap.
//
//     allocations <-- magazine <--empty-- slabs of the size, a slab's lowest first <-- Host: blocks of 8 KiB
//     frees       --> magazine --full---> the older half: a bit each, in its slab
//                             \---------> Host's lists, if the block lies in no slab
//
// A heap that joins free blocks keeps them in lists, which get shuffled by use, so that allocations read
// their links from blocks that are in no cache (class_slabs.hpp). Once such a heap has grown, its small
// blocks can lie in slabs as those of a multipool. A slab is a block of the heap like any other: it is cut
// from free memory, and joined with it when no block in it is in use. Host's blocks may lie beside it, so a
// set of slabs tells from an address whether it is in one. Each size has a magazine of 16 slots at first,
// which grows as it is refilled, and slabs once LeastGrown bytes of it came from elsewhere. Slabs without a
// block in use serve any size, until give_back(). Everything lies in memory of Host's: where that ends, so
// does this.
// Host:
//
//     take_memory(bytes)       a block of a multiple of 16 bytes, or null; put_memory(p, bytes) takes it back
//                              and returns the size that it had
//     take_slabs(out, count)   appends up to `count` blocks of a slab less `Tail` bytes, aligned to a slab;
//                              none if other free blocks are to be used up first; put_slab(p) takes one back
//     take_outside(size, end, most), put_outside(p, size)    free blocks that lie in no slab
//
// Invariant: a slab is in the set if a class has it or it is empty. Cost: a pair as in multipool; O(1) on
// average. 7 KiB with 127 sizes. Not synchronised. Seed 003, chapter 3 (mallocs with free blocks for each
// page).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/chain.hpp"
#include "mallard/core/magazine.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/layer/address_ranges.hpp"
#include "mallard/layer/class_slabs.hpp"

namespace mallard {

// slab_set<Size>: the addresses of slabs.
//
//     address  [ key ............................ | number: 5 bits | offset ]
//     table    [key| a bit for each of 32 slabs] [0| ] [key| ...] ...          open addressing, half full
//
// The caller provides the table's memory. Cost: a test is O(1), usually of one entry; 16 bytes for 32 slabs.
template <std::size_t Size>
class slab_set {
 public:
  struct entry {
    std::uintptr_t key;
    std::uint32_t slabs;
  };

  slab_set() = default;
  slab_set(const slab_set&) = delete;
  slab_set& operator=(const slab_set&) = delete;

  [[nodiscard]] MALLARD_INLINE bool contains(const void* p) const noexcept {
    const std::uintptr_t key = key_of(p);
    for (std::size_t i = home_of(key); table_[i].key != 0; i = (i + 1) & mask_)
      if (table_[i].key == key) return (table_[i].slabs & bit_of(p)) != 0;
    return false;
  }

  // Whether add() may be called `more` times.
  [[nodiscard]] bool has_room(std::size_t more) const noexcept { return 2 * (count_ + more) <= entries(); }

  // The table, to be returned; empty if there is none.
  [[nodiscard]] std::span<entry> table() noexcept { return {table_, entries()}; }
  [[nodiscard]] std::span<const entry> table() const noexcept { return {table_, entries()}; }

  // Entries that a table should have for the slabs that there are and `more`. O(entries).
  [[nodiscard]] std::size_t entries_for(std::size_t more) const noexcept {
    const auto has_slabs = [](const entry& e) { return e.slabs != 0; };
    const auto live = static_cast<std::size_t>(std::ranges::count_if(table(), has_slabs));
    return std::bit_ceil(4 * (live + more));
  }

  // Moves into a table of `entries` entries, a power of two and more than there are.
  void move_into(void* to, std::size_t entries) noexcept {
    const std::span<const entry> old = table();
    table_ = static_cast<entry*>(to);
    mask_ = entries - 1;
    shift_ = bits_of_key - std::countr_zero(entries);
    count_ = 0;
    std::uninitialized_fill_n(table_, entries, entry{});
    for (const entry& e : old)
      if (e.slabs != 0) entry_of(e.key).slabs = e.slabs;
  }

  // Precondition: there is room.
  void add(const void* p) noexcept { entry_of(key_of(p)).slabs |= bit_of(p); }

  // Precondition: it is in.
  void remove(const void* p) noexcept { entry_of(key_of(p)).slabs &= ~bit_of(p); }

  // Calls f(start) for every slab. O(entries).
  template <class F>
  void for_each(F f) const noexcept {
    for (const entry& e : table())
      for (std::uint32_t left = e.slabs; left != 0; left &= left - 1)
        f(reinterpret_cast<std::byte*>(
            (e.key * per_entry + static_cast<std::uintptr_t>(std::countr_zero(left))) * Size));
  }

 private:
  static constexpr std::size_t per_entry = 32;

  static std::uintptr_t key_of(const void* p) noexcept { return address_of(p) / (Size * per_entry); }
  static std::uint32_t bit_of(const void* p) noexcept {
    return std::uint32_t{1} << (address_of(p) / Size % per_entry);
  }

  // Keys of neighbours differ little, so a product spreads them.
  [[nodiscard]] MALLARD_INLINE std::size_t home_of(std::uintptr_t key) const noexcept {
    return (key * std::uintptr_t{0x9e3779b97f4a7c15}) >> shift_;
  }

  [[nodiscard]] std::size_t entries() const noexcept { return table_ == none_.data() ? 0 : mask_ + 1; }

  entry& entry_of(std::uintptr_t key) noexcept {
    std::size_t i = home_of(key);
    while (table_[i].key != key && table_[i].key != 0) i = (i + 1) & mask_;
    if (std::exchange(table_[i].key, key) == 0) ++count_;
    return table_[i];
  }

  static constexpr int bits_of_key = 64;

  std::array<entry, 2> none_{};  // a table without room
  entry* table_ = none_.data();
  std::size_t mask_ = 1;
  int shift_ = bits_of_key - 1;
  std::size_t count_ = 0;  // entries with a key
};

// respite: how long a refused request is not repeated, as a refusal may have cost a long search.
class respite {
 public:
  void begin() noexcept { left_ = requests; }
  void end() noexcept { left_ = 0; }

  // Whether this request is one that does not ask; counts it.
  [[nodiscard]] bool lasts() noexcept {
    if (left_ == 0) return false;
    --left_;
    return true;
  }

 private:
  static constexpr std::size_t requests = 255;

  std::size_t left_ = 0;
};

// Granule: sizes are multiples of it, and below Limit. Tail: bytes at the end of a slab that are Host's.
// LeastGrown: bytes of a size that come from Host before it has slabs.
template <class Host, std::size_t Granule, std::size_t Limit, std::size_t Tail = 0,
          std::size_t LeastGrown = std::size_t{16} << 10>
class hosted_slabs {
 public:
  static constexpr std::size_t slab_size = 8192;

  // How many of `count` slabs a heap should take that holds `held` bytes: a sixteenth, but at least one.
  [[nodiscard]] static constexpr std::size_t at_once(std::size_t held, std::size_t count) noexcept {
    return std::clamp<std::size_t>(held / 16 / slab_size, 1, count);
  }

  // Of such an object, as Host provides it: a multiple of 16, as is all that Host is asked for.
  [[nodiscard]] static constexpr std::size_t bytes() noexcept {
    return align_up(sizeof(hosted_slabs), 2 * sizeof(slot));
  }

  explicit hosted_slabs(Host& host) noexcept : host_(host) {}
  hosted_slabs(const hosted_slabs&) = delete;
  hosted_slabs& operator=(const hosted_slabs&) = delete;

  // A block of exactly `size` bytes from a magazine; null if refill() has to provide it.
  [[nodiscard]] MALLARD_INLINE void* allocate(std::size_t size, std::size_t align) noexcept {
    magazine& m = magazines_[size / Granule];
    if (align > Granule && !m.newest_is_aligned(align)) [[unlikely]]
      return nullptr;
    return m.pop();
  }

  // The same from elsewhere, after which a magazine has more; null if Host has to provide it.
  [[nodiscard]] MALLARD_NOINLINE void* refill(std::size_t size, std::size_t align) noexcept {
    const std::size_t index = size / Granule;
    class_state& state = states_[index];
    if (waiting(index).empty() && !fill(index, state)) return nullptr;
    return allocate(size, align);
  }

  // A block of `size` bytes of Host's, in a slab or not.
  MALLARD_INLINE void deallocate(void* p, std::size_t size) noexcept {
    if (!magazines_[size / Granule].push(p)) [[unlikely]]
      push_slow(p, size);
  }

  // Bytes of slabs without a block in use, beside one a class and what waits in magazines.
  [[nodiscard]] std::size_t idle() const noexcept { return empty_.size() * slab_size; }

  // Returns them to Host.
  void give_back() noexcept {
    for (; !empty_.empty(); --slabs_) {
      void* const start = empty_.pop_front();
      set_.remove(start);
      host_.put_slab(start);
    }
  }

  // Whether the block at `p` lies in a slab, and its size then.
  [[nodiscard]] MALLARD_INLINE bool has(const void* p) const noexcept { return set_.contains(p); }
  [[nodiscard]] static std::size_t size_at(const void* p) noexcept { return size_of(slab::of(p)->index); }

  // Empties all magazines, and returns to Host what no block in use lies in; returns whether that leaves
  // nothing, so that this object may end. O(free blocks in magazines).
  [[nodiscard]] bool trim() noexcept {
    for (std::size_t i = 0; i < classes; ++i) {
      put_back(i, waiting(i));
      magazines_[i].drop_oldest(states_[i].base, waiting(i).size());
      states_[i].own.retire_newest(*this);
    }
    give_back();
    if (slabs_ != 0) return false;
    for (class_state& state : states_)
      if (state.base != nullptr) return_magazine(state);
    return_table();
    return true;
  }

  // Bytes of Host's blocks that are here but in no block in use, without this object. O(slabs).
  [[nodiscard]] std::size_t unused() const noexcept {
    std::size_t sum = memory_ + slabs_ * (slab_size - Tail);
    set_.for_each([&](const std::byte* start) {
      const slab& s = *slab::of(start);
      sum -= s.used() * size_of(s.index);
    });
    for (std::size_t i = 0; i < classes; ++i) sum += waiting(i).size() * size_of(i);
    return sum;
  }

  // Host's blocks that are here, without this object.
  [[nodiscard]] std::size_t host_blocks() const noexcept { return slabs_ + memory_blocks_; }

  // `chunks`: of Host's memory. O(slabs + free blocks in magazines * log of their number), in the memory of
  // address_ranges.
  [[nodiscard]] violation validate(const address_ranges& chunks) const noexcept {
    violation found;
    std::size_t count = 0;
    set_.for_each([&](const std::byte* start) {
      ++count;
      if (found) return;
      if (!chunks.contains(start) || !chunks.contains(start + slab_size - 1))
        found = {"hosted_slabs: a slab lies outside the chunks"};
      else if (slab::of(start)->index >= classes)
        found = {"hosted_slabs: a slab is of no class"};
      else
        found = slab::of(start)->validate(size_of(slab::of(start)->index));
    });
    if (found) return found;
    if (count != slabs_ || empty_.size() > slabs_) return {"hosted_slabs: a slab is not counted, or twice"};
    for (std::size_t i = 0; i < classes; ++i)
      if (violation v = validate_class(i, chunks)) return v;
    const address_ranges free([this](auto f) {
      for (std::size_t i = 0; i < classes; ++i)
        for (const slot block : waiting(i)) f(reinterpret_cast<const void*>(block), size_of(i));
    });
    if (free.overlap()) return {"hosted_slabs: a block was freed twice"};
    return {};
  }

 private:
  using slabs = class_slabs<slab_size, Tail>;
  using slab = typename slabs::slab;
  using slot = magazine::slot;
  friend slabs;  // take and put

  static constexpr std::size_t classes = Limit / Granule;
  static_assert(classes <= 256 && Limit <= slab_size / 8);

  // What is taken from Host for slabs at once, if it has as much: neighbours that one class fills.
  static constexpr std::size_t slabs_at_once = 8;

  static constexpr std::size_t first_slots = 16;
  static constexpr std::size_t refills_at_a_width = 16;

  struct class_state {
    slabs own;
    slot* base = nullptr;       // of its magazine, which is closed before
    std::size_t grown = 0;      // bytes that came from Host, less those that a magazine returned there
    std::uint16_t slots = 0;    // of the magazine
    std::uint16_t refills = 0;  // since the magazine was made, or could not be made larger
    bool has_slabs = false;
  };

  static constexpr std::size_t size_of(std::size_t index) noexcept { return index * Granule; }

  // The free blocks in the magazine of a class, the oldest first.
  [[nodiscard]] std::span<const slot> waiting(std::size_t index) const noexcept {
    const slot* const base = states_[index].base;
    if (base == nullptr) return {};
    return {base, magazines_[index].count(base)};
  }

  // Whether the empty magazine of a class has blocks now.
  bool fill(std::size_t index, class_state& state) noexcept {
    if (state.slots == 0 || state.refills == refills_at_a_width) widen(index, state);
    if (state.slots == 0) return false;
    slot* const end = state.base + state.slots / 2;
    const std::size_t taken = take(index, state, end, state.slots / 2);
    if (taken == 0) return false;
    ++state.refills;
    magazines_[index].fill(state.base, end - taken, end);
    return true;
  }

  // Free blocks, up to `most`, into the slots below `end`; returns their number.
  std::size_t take(std::size_t index, class_state& state, slot* end, std::size_t most) noexcept {
    const std::size_t size = size_of(index);
    if (!state.has_slabs) {
      const std::size_t taken = host_.take_outside(size, end, most);
      state.grown += size * std::max<std::size_t>(taken, 1);
      state.has_slabs = state.grown >= LeastGrown;
      return taken;
    }
    if (const std::size_t taken = state.own.take(end, most, size); taken != 0) return taken;
    if (state.own.add(index, size, *this)) return state.own.take(end, most, size);
    return host_.take_outside(size, end, most);
  }

  // Gives the empty magazine of a class twice the slots, within bounds, if there is memory.
  MALLARD_NOINLINE void widen(std::size_t index, class_state& state) noexcept {
    const std::size_t slots =
        std::clamp<std::size_t>(2 * state.slots, first_slots, slabs::slots(size_of(index)) & ~std::size_t{1});
    state.refills = 0;
    if (slots <= state.slots || refused_.lasts()) return;
    void* const place = take_memory(magazine_bytes(slots));
    if (place == nullptr) return refused_.begin();
    if (state.base != nullptr) return_magazine(state);
    state.base = static_cast<slot*>(place) + magazine::below;
    state.slots = static_cast<std::uint16_t>(slots);
    magazines_[index].open(state.base, slots);
  }

  MALLARD_NOINLINE void push_slow(void* p, std::size_t size) noexcept {
    const std::size_t index = size / Granule;
    class_state& state = states_[index];
    if (state.base == nullptr) {
      const slot alone = address_of(p);
      return put_back(index, {&alone, 1});
    }
    const std::span<const slot> older(state.base, state.slots / 2);
    put_back(index, older);
    magazines_[index].drop_oldest(state.base, older.size());
    (void)magazines_[index].push(p);
  }

  // Free blocks go where they lie.
  void put_back(std::size_t index, std::span<const slot> blocks) noexcept {
    class_state& state = states_[index];
    for (const slot block : blocks) {
      void* const p = reinterpret_cast<void*>(block);
      if (set_.contains(p)) {
        state.own.put(p, *this);
      } else {
        state.grown -= std::min(state.grown, size_of(index));
        host_.put_outside(p, size_of(index));
      }
    }
  }

  // For class_slabs: a slab without blocks; null when none can be had.
  [[nodiscard]] slab* take() noexcept {
    if (empty_.empty() && !add_empty()) return nullptr;
    return slab_at(empty_.pop_front());
  }

  // And one whose last block was freed.
  void put(slab* s) noexcept { empty_.push_front(slab_at(s->start())->start()); }

  static slab* slab_at(void* start) noexcept {
    return ::new (static_cast<std::byte*>(start) + slab::offset) slab;
  }

  // Whether Host has given slabs, which are remembered.
  bool add_empty() noexcept {
    if (refused_.lasts()) return false;
    if (set_.has_room(slabs_at_once) || grow_table()) host_.take_slabs(empty_, slabs_at_once);
    if (empty_.empty()) refused_.begin();
    for (void* start = empty_.front(); start != nullptr; start = chain::next(start)) {
      set_.add(slab_at(start)->start());
      ++slabs_;
    }
    return !empty_.empty();
  }

  bool grow_table() noexcept {
    using entry = typename slab_set<slab_size>::entry;
    const std::size_t entries = std::max<std::size_t>(set_.entries_for(slabs_at_once), 64);
    void* const to = take_memory(entries * sizeof(entry));
    if (to == nullptr) return false;
    const std::span<entry> old = set_.table();
    set_.move_into(to, entries);
    if (!old.empty()) return_memory(old.data(), old.size_bytes());
    return true;
  }

  void return_table() noexcept {
    if (!set_.table().empty()) return_memory(set_.table().data(), set_.table().size_bytes());
  }

  static constexpr std::size_t magazine_bytes(std::size_t slots) noexcept {
    return (slots + magazine::marks) * sizeof(slot);
  }
  void return_magazine(const class_state& state) noexcept {
    return_memory(state.base - magazine::below, magazine_bytes(state.slots));
  }

  void* take_memory(std::size_t bytes) noexcept {
    const block taken = host_.take_memory(bytes);
    if (!taken) return nullptr;
    memory_ += taken.size;
    ++memory_blocks_;
    return taken.data;
  }
  void return_memory(void* p, std::size_t bytes) noexcept {
    memory_ -= host_.put_memory(p, bytes);
    --memory_blocks_;
  }

  [[nodiscard]] violation validate_class(std::size_t index, const address_ranges& chunks) const noexcept {
    const class_state& state = states_[index];
    if (state.base == nullptr ? magazines_[index].is_open(no_slots_)
                              : !magazines_[index].is_intact(state.base, state.slots))
      return {"hosted_slabs: a magazine was overwritten"};
    for (const slot block : waiting(index)) {
      const void* const p = reinterpret_cast<const void*>(block);
      if (!is_aligned(p, Granule) || !chunks.contains(p))
        return {"hosted_slabs: a freed block is none of the heap's"};
      if (!set_.contains(p)) continue;
      const slab& s = *slab::of(p);
      if (s.index != index || !s.has_block_at(p, size_of(index)) || s.has_free(p))
        return {"hosted_slabs: a freed block is of another class, or freed twice"};
    }
    return state.own.validate_list(index, slabs_);
  }

  magazine::no_slots no_slots_;
  std::array<magazine, classes> magazines_ = magazine::closed(no_slots_, std::make_index_sequence<classes>());
  std::array<class_state, classes> states_{};
  slab_set<slab_size> set_;
  Host& host_;
  chain empty_;             // slabs of no class
  std::size_t slabs_ = 0;   // all, those included
  std::size_t memory_ = 0;  // bytes of the magazines and the table
  std::size_t memory_blocks_ = 0;
  respite refused_;  // by Host: memory of any kind
};

}  // namespace mallard
