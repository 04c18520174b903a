// region_emulator: the semantics of regions over a malloc.
//
//     region_emulator over malloc     [ * * * * * ]  entries, in pages of their own
//        |                              | | | | |
//        +-- child, the same malloc   malloc's blocks, each ended by free
//
// The baseline for programs with regions: the same calls, but every block is a malloc's. It can do what
// region and obstack can, except growing an object: nesting (layer/nested.hpp), clear(), release(), mark()
// and rewind(), free_from(block). It costs what the malloc does, plus an entry for each block and a page for
// the entries of each non-empty region; it never touches the blocks. Any heap may replace malloc. Not
// synchronised, even over a synchronised malloc. Seed 002, section 5.1 (emulating regions).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/growth.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/layer/bump.hpp"
#include "mallard/layer/chunk_list.hpp"
#include "mallard/layer/nested.hpp"
#include "mallard/source/default_source.hpp"
#include "mallard/source/malloc_heap.hpp"
#include "mallard/source/upstream_ref.hpp"

namespace mallard {

// record_stack<T, Source, Growth>: a stack of values in chunks of its own.
//
//     newest --> [header| T T T T ....free....] --> [header| T T T T T T T T T ]
//                                ^ top
//
// It grows without moving values. Its memory comes from a source of its own, so the records lie nowhere near
// the blocks they describe. The largest emptied chunk is kept. Invariant: only the newest chunk has room for
// another value. Cost: push and pop are O(1), beside the source's cost once per chunk.
template <class T, heap Source, growth_policy Growth>
  requires(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>)
class record_stack {
  using chunks = chunk_list<Source, Growth>;
  using chunk = typename chunks::chunk;

 public:
  // False, and nothing has changed, when the source is exhausted.
  [[nodiscard]] bool push(const T& value) noexcept {
    void* place = nullptr;
    if (!top_.take(sizeof(T), alignof(T), place)) [[unlikely]] {
      if (!add_chunk()) return false;
      if (!top_.take(sizeof(T), alignof(T), place)) return false;
    }
    ::new (place) T(value);
    ++size_;
    return true;
  }

  // Pops the newest value; precondition: there is one.
  T pop() noexcept {
    MALLARD_CHECK(size_ != 0);
    if (top_.cursor() == chunks_.newest()->begin()) {
      chunks_.drop_newest();
      top_ = {chunks_.newest()->filled(), chunks_.newest()->end()};
    }
    --size_;
    std::byte* const place = top_.cursor() - sizeof(T);
    top_.rewind(place);
    return *std::launder(reinterpret_cast<const T*>(place));
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  // Bytes that it has from its source.
  [[nodiscard]] std::size_t held() const noexcept { return chunks_.held(); }

  [[nodiscard]] Source& source() noexcept { return chunks_.upstream(); }

  // Returns all memory. O(chunks).
  void release() noexcept {
    chunks_.release();
    top_ = {};
    size_ = 0;
  }

  // Calls f(value) for each, the last one first, while it returns true.
  template <class F>
  void for_each_while(F f) const noexcept {
    const std::byte* end = top_.cursor();
    for (chunk* c = chunks_.newest(); c != nullptr; c = c->older()) {
      if (c != chunks_.newest()) end = c->filled();
      for (; end != c->begin(); end -= sizeof(T))
        if (!f(*std::launder(reinterpret_cast<const T*>(end - sizeof(T))))) return;
    }
  }

  [[nodiscard]] violation validate() const noexcept {
    if (violation v = chunks_.validate()) return v;
    std::size_t bytes = 0;
    for (chunk* c = chunks_.newest(); c != nullptr; c = c->older()) {
      const std::byte* const end = c == chunks_.newest() ? top_.cursor() : c->filled();
      if (end < c->begin() || end > c->end()) return {"record_stack: the top is outside its chunk"};
      bytes += static_cast<std::size_t>(end - c->begin());
    }
    if (bytes != size_ * sizeof(T)) return {"record_stack: the values do not add up"};
    return {};
  }

 private:
  static_assert(alignof(T) <= default_align);

  MALLARD_NOINLINE bool add_chunk() noexcept {
    chunk* const older = chunks_.newest();
    chunk* const added = chunks_.add(sizeof(T), alignof(T));
    if (added == nullptr) return false;
    if (older != nullptr) older->set_filled(top_.cursor());
    top_ = {added->begin(), added->end()};
    return true;
  }

  bump top_;
  std::size_t size_ = 0;
  chunks chunks_;
};

// emulated_region<Upstream, Records>: a region in which every block is one of the upstream's.
//
//     Upstream (a malloc)   ... [block] ...... [block] ........ [block] ...
//     Records               [ * | * | * ...... ]    one entry for each, in the order of allocation
//
// Nothing is recorded in or beside a block: entries lie in chunks from another source, and no block is
// touched here before the upstream frees it. So the program is the last to access a block, and the upstream
// treats neighbouring blocks as it does for that program. An entry is a pointer if the upstream is
// `freeable`, otherwise 16 bytes with size and alignment. clear() and release() free all blocks, newest
// first; rewind() frees those since mark(), free_from() a block and those since. deallocate does nothing, as
// in a region. Invariant: the entries are the live blocks. Cost: the upstream's and 10 instructions per
// allocation, and the same per free; clear() and the like are O(blocks freed). Seed 002, section 5.1
// (emulating regions).
// A page of entries first, for most regions are small; later many, for the few that are not.
using record_growth = doubling<4096, std::size_t{1} << 20>;

template <heap Upstream, heap Records>
class emulated_region {
  static constexpr bool by_pointer = freeable<Upstream>;

  struct pointer_entry {
    void* data;
  };
  // Sizes and alignments are below 2^58: the alignment's logarithm is in the six bits above.
  struct sized_entry {
    void* data;
    std::uint64_t packed;

    [[nodiscard]] std::size_t size() const noexcept { return packed & ((std::uint64_t{1} << 58) - 1); }
    [[nodiscard]] std::size_t align() const noexcept { return std::size_t{1} << (packed >> 58); }
  };
  using entry = std::conditional_t<by_pointer, pointer_entry, sized_entry>;
  static constexpr bool knows_sizes = !by_pointer || measurable<Upstream>;

 public:
  using upstream_type = Upstream;
  using records_type = Records;

  template <class... Args>
    requires constructible_as_root<Upstream, Args...>
  explicit emulated_region(Args&&... args) : upstream_(std::forward<Args>(args)...) {}
  emulated_region(const emulated_region&) = delete;
  emulated_region& operator=(const emulated_region&) = delete;
  ~emulated_region() {
    MALLARD_VALIDATE();
    end_down_to(0);
  }

  [[nodiscard]] upstream_type& upstream() noexcept { return upstream_; }
  [[nodiscard]] const upstream_type& upstream() const noexcept { return upstream_; }

  // The source of the entries' memory.
  [[nodiscard]] records_type& records() noexcept { return entries_.source(); }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align) noexcept {
    if (size >> 58 != 0) return {};
    const block given = upstream_.allocate(size, align);
    if (!given) [[unlikely]]
      return {};
    const entry made = entry_of(given, align);
    if (!entries_.push(made)) [[unlikely]] {
      end(made);
      return {};
    }
    return given;
  }

  void deallocate(void*, std::size_t, std::size_t) noexcept {}

  [[nodiscard]] std::size_t usable_size(const void* p) const noexcept
    requires measurable<Upstream>
  {
    return upstream_.usable_size(p);
  }

  [[nodiscard]] std::size_t received_size(std::size_t size, std::size_t align) const noexcept
    requires predictable<Upstream>
  {
    return size >> 58 != 0 ? 0 : upstream_.received_size(size, align);
  }

  // Keeps the largest chunk of entries.
  void clear() noexcept {
    MALLARD_VALIDATE();
    end_down_to(0);
  }

  void release() noexcept {
    MALLARD_VALIDATE();
    end_down_to(0);
    entries_.release();
  }

  class mark_type {
    friend class emulated_region;
    std::size_t blocks_ = 0;
  };

  [[nodiscard]] mark_type mark() const noexcept {
    mark_type here;
    here.blocks_ = entries_.size();
    return here;
  }

  void rewind(const mark_type& to) noexcept {
    MALLARD_VALIDATE();
    end_down_to(to.blocks_);
  }

  // Ends the live block at `p` and every block that was allocated after it.
  void free_from(void* p) noexcept {
    for (bool found = false; !found;) {
      const entry ended = entries_.pop();
      found = ended.data == p;
      end(ended);
    }
  }

  // Bytes that the entries hold; usage() does not include them.
  [[nodiscard]] std::size_t records_held() const noexcept { return entries_.held(); }

  // Figures of the blocks. An upstream asked for a block's size may read the block.
  [[nodiscard]] heap_usage usage() const noexcept
    requires(knows_sizes)
  {
    std::size_t bytes = 0;
    entries_.for_each_while([&](const entry& e) {
      bytes += received(e);
      return true;
    });
    return {bytes, bytes, bytes};
  }

  [[nodiscard]] violation validate() const noexcept { return entries_.validate(); }

 private:
  static entry entry_of(const block& given, std::size_t align) noexcept {
    if constexpr (by_pointer)
      return {given.data};
    else
      return {given.data, given.size | static_cast<std::uint64_t>(std::countr_zero(align)) << 58};
  }

  [[nodiscard]] std::size_t received(const entry& e) const noexcept {
    if constexpr (by_pointer)
      return upstream_.usable_size(e.data);
    else
      return e.size();
  }

  void end(const entry& e) noexcept {
    if constexpr (by_pointer)
      upstream_.deallocate(e.data);
    else
      upstream_.deallocate(e.data, e.size(), e.align());
  }

  void end_down_to(std::size_t blocks) noexcept {
    MALLARD_CHECK(blocks <= entries_.size());
    while (entries_.size() > blocks) end(entries_.pop());
  }

  Upstream upstream_;
  record_stack<entry, Records, record_growth> entries_;
};

template <heap Upstream = malloc_heap, heap Records = cached_pages>
using basic_region_emulator = nested<emulated_region<shared_upstream<Upstream>, Records>>;

using region_emulator = basic_region_emulator<>;

template <>
inline constexpr std::string_view heap_name<region_emulator> = "region_emulator";

}  // namespace mallard
