// chunk_list<Upstream, Growth>: chunks from an upstream, newest first.
//
//     newest --> [header| room ......] --> [header| room .....] --> [header| room ..] --> null
//     spares --> [header| room ...........] --> null          empty, looked at before the upstream is asked
//
// The header lies inside the chunk, so the list needs no other memory. The growth policy sets a chunk's size;
// if the upstream cannot provide it, half of it is asked for, and so on down to the request. A chunk for
// blocks of one size is made smaller if they would leave much of its end unused.
// A dropped chunk becomes the spare if it is larger than the present one: a heap that is cleared or rewound
// repeatedly keeps its largest chunk and soon needs no other. recycle() keeps all chunks in their order, so
// that the same work finds each again where it needs it. Different work may find the next few spares too
// small and get a new chunk; all spares are searched only if the upstream has no memory. If it owns its
// upstream, it forwards clear() and release() to it; an `upstream_ref` has neither. Invariant: held() is
// the sum of the chunks' received sizes, spares included. Cost: add and drop are O(1) beside the upstream's,
// owns and validate O(chunks), add O(chunks) if the upstream is exhausted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "mallard/core/address_sort.hpp"
#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/growth.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/layer/address_ranges.hpp"

namespace mallard {

template <heap Upstream, growth_policy Growth>
class chunk_list {
 public:
  using upstream_type = Upstream;

  class alignas(default_align) chunk {
   public:
    chunk(chunk* older, std::size_t size) noexcept : older_(older), size_(size), filled_(begin()) {}

    // The room: everything behind the header. Its start is aligned to `default_align`.
    [[nodiscard]] std::byte* begin() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
    [[nodiscard]] std::byte* end() noexcept { return reinterpret_cast<std::byte*>(this) + size_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] chunk* older() const noexcept { return older_; }

    // The end of the used part of the room; the chunk's user sets it when it turns to another chunk.
    [[nodiscard]] std::byte* filled() const noexcept { return filled_; }
    void set_filled(std::byte* end_of_taken) noexcept { filled_ = end_of_taken; }

    // The chunk with the next higher address, valid if chunks were sorted since one was added.
    [[nodiscard]] chunk* higher() const noexcept { return higher_; }

    [[nodiscard]] bool contains(const void* p) const noexcept {
      return address_of(p) - address_of(this) < size_;
    }

   private:
    friend class chunk_list;
    void set_higher(chunk* c) noexcept { higher_ = c; }

    // The alignment with which it was requested. A chunk that is aligned more strictly than others is never
    // sorted, so an odd number, which no pointer is, takes its place.
    void set_align(std::size_t align) noexcept { higher_ = reinterpret_cast<chunk*>(align | 1); }
    [[nodiscard]] std::size_t align() const noexcept {
      const std::uintptr_t said = address_of(higher_);
      return (said & 1) != 0 ? said ^ 1 : alignof(chunk);
    }

    chunk* older_;
    std::size_t size_;
    std::byte* filled_;
    chunk* higher_ = nullptr;
  };

  template <class... Args>
    requires constructible_as_root<Upstream, Args...>
  explicit chunk_list(Args&&... args) : upstream_(std::forward<Args>(args)...) {}
  chunk_list(const chunk_list&) = delete;
  chunk_list& operator=(const chunk_list&) = delete;
  ~chunk_list() { release(); }

  [[nodiscard]] upstream_type& upstream() noexcept { return upstream_; }
  [[nodiscard]] const upstream_type& upstream() const noexcept { return upstream_; }
  [[nodiscard]] chunk* newest() const noexcept { return newest_; }
  [[nodiscard]] std::size_t held() const noexcept { return held_; }

  // Whether a chunk for such a block is not larger than any request may be.
  [[nodiscard]] static constexpr bool can_hold(std::size_t size, std::size_t align) noexcept {
    constexpr std::size_t most = max_request - sizeof(chunk);
    return size <= most && padding_of(align) <= most - size;
  }

  // Adds a newest chunk with room for a block of `size` bytes at `align`; null when exhausted. It will be
  // filled with blocks of `unit` bytes each, 1 if that is unknown.
  [[nodiscard]] chunk* add(std::size_t size, std::size_t align, std::size_t unit = 1) noexcept {
    if (!can_hold(size, align)) return nullptr;
    const std::size_t least = sizeof(chunk) + size + padding_of(align);
    // The only chunk of many heaps, of a size that the compiler knows.
    if (held_ == 0) {
      const std::size_t first = Growth::next(0, 0);
      if (least <= first && fitted(first, unit) == first)
        return newest_ = obtain(first, least, alignof(chunk));
    }
    // What a cleared heap has kept.
    if (spares_ != nullptr && spares_->size_ >= least) return add_spare();
    return add_slow(least, unit);
  }

  // Adds a newest chunk that starts at a multiple of `unit`, a power of two, and has room for at least one
  // unit, header included; null when exhausted. `is_fresh`: whether the system has just mapped it.
  [[nodiscard]] chunk* add_aligned(std::size_t unit, bool& is_fresh) noexcept {
    is_fresh = false;
    chunk* added = take_spare(unit, few, unit);
    if (added == nullptr) {
      // Half of the other chunks' size, as the newest of both kinds has something left.
      const std::size_t wished = Growth::next(newest_ == nullptr ? 0 : newest_->size_, held_) / 2;
      added = obtain(std::max(unit, wished - wished % unit), unit, std::max(unit, alignof(chunk)), &is_fresh);
    }
    if (added == nullptr) added = take_spare(unit, all, unit);
    if (added == nullptr) return nullptr;
    added->older_ = newest_;
    return newest_ = added;
  }

  // For a necessary request that add() has refused: returns all spares, so that the upstream may be asked
  // again; whether there were any.
  [[nodiscard]] MALLARD_NOINLINE bool give_spares_back() noexcept {
    if (spares_ == nullptr) return false;
    trim_spares(0);
    return true;
  }

  // The first spare as the newest chunk; null when there is none.
  [[nodiscard]] chunk* add_spare() noexcept {
    chunk* const added = spares_;
    if (added == nullptr) return nullptr;
    spares_ = std::exchange(added->older_, newest_);
    return newest_ = added;
  }

  // Drops the newest chunk, which holds no live block; precondition: there is one. The larger of it and the
  // spare is kept.
  void drop_newest() noexcept {
    MALLARD_CHECK(newest_ != nullptr);
    chunk* dropped = newest_;
    newest_ = dropped->older_;
    if (spares_ != nullptr && spares_->size_ >= dropped->size_) return give_back(dropped);
    dropped->set_filled(dropped->begin());
    dropped->older_ = nullptr;
    give_back_all(std::exchange(spares_, dropped));
  }

  // Sorts the chunks, except spares, by address and returns the lowest; null if there is none. Their order by
  // age stays. O(chunks log chunks).
  [[nodiscard]] chunk* sort() noexcept {
    address_sort<chunk, &chunk::higher, &chunk::set_higher> sorted;
    for (chunk* c = newest_; c != nullptr; c = c->older_) sorted.add(c);
    return sorted.take_all();
  }

  // Returns the chunks for which ends(chunk) holds and which hold no live block, except spares. O(chunks).
  template <class Ends>
  void drop_if(Ends ends) noexcept {
    give_back_if(newest_, ends);
  }

  // Returns spares until at most `keep` bytes of them are held. O(spares).
  void trim_spares(std::size_t keep) noexcept {
    give_back_if(spares_, [&](const chunk* c) {
      if (c->size_ > keep) return true;
      keep -= c->size_;
      return false;
    });
  }

  // Ends all blocks; keeps the largest chunk, or lets a clearable upstream decide what to keep.
  void clear() noexcept {
    if constexpr (clearable<Upstream>) {
      forget();
      upstream_.clear();
    } else {
      while (newest_ != nullptr) drop_newest();
    }
  }

  // Ends all blocks; keeps all chunks.
  void recycle() noexcept {
    while (newest_ != nullptr) {
      chunk* const emptied = std::exchange(newest_, newest_->older_);
      emptied->set_filled(emptied->begin());
      emptied->older_ = std::exchange(spares_, emptied);
    }
  }

  // Ends all blocks and returns all chunks.
  void release() noexcept {
    if constexpr (releasable<Upstream>) {
      forget();
      upstream_.release();
    } else {
      give_back_all(std::exchange(newest_, nullptr));
      give_back_all(std::exchange(spares_, nullptr));
    }
  }

  // Drops all chunks without giving one back: their upstream ends them.
  void forget() noexcept {
    newest_ = nullptr;
    spares_ = nullptr;
    held_ = 0;
  }

  [[nodiscard]] bool owns(const void* p) const noexcept {
    for (const chunk* list : {newest_, spares_})
      for (const chunk* c = list; c != nullptr; c = c->older_)
        if (c->contains(p)) return true;
    return false;
  }

  // The address ranges of the chunks, spares included, for a validation.
  [[nodiscard]] address_ranges chunk_ranges() const noexcept {
    return address_ranges([this](auto f) {
      for (const chunk* list : {newest_, spares_})
        for (const chunk* c = list; c != nullptr; c = c->older_) f(c, c->size_);
    });
  }

  [[nodiscard]] violation validate() const noexcept {
    std::size_t sum = 0;
    for (chunk* list : {newest_, spares_}) {
      for (chunk* c = list; c != nullptr; c = c->older_) {
        if (!is_aligned(c, default_align)) return {"chunk_list: a chunk is misaligned"};
        if (c->size_ < sizeof(chunk) || c->size_ > held_ - sum)
          return {"chunk_list: the chunks are larger than what is held, or linked in a circle"};
        if (c->filled_ < c->begin() || c->filled_ > c->end())
          return {"chunk_list: a chunk is filled beyond its room"};
        sum += c->size_;
      }
    }
    if (sum != held_) return {"chunk_list: the chunks do not add up to what is held"};
    return {};
  }

 private:
  // The most padding that a block needs at the start of a chunk, which is aligned to `default_align` only.
  static constexpr std::size_t padding_of(std::size_t align) noexcept {
    return align > default_align ? align - default_align : 0;
  }

  // How many spares are looked at before the upstream is asked. Work that was done before needs the first;
  // some more, because a spare that is too small stays first until something fits it.
  static constexpr std::size_t few = 8;
  static constexpr std::size_t all = static_cast<std::size_t>(-1);

  // What add() does otherwise; `least` includes the header.
  MALLARD_NOINLINE chunk* add_slow(std::size_t least, std::size_t unit) noexcept {
    chunk* added = take_spare(least, few);
    if (added == nullptr) {
      const std::size_t wished = Growth::next(newest_ == nullptr ? 0 : newest_->size_, held_);
      added = obtain(wished > least ? std::max(least, fitted(wished, unit)) : least, least, alignof(chunk));
    }
    if (added == nullptr) added = take_spare(least, all);
    if (added == nullptr) return nullptr;
    added->older_ = newest_;
    return newest_ = added;
  }

  // Removes one of the first `most` spares that is large enough, at a multiple of `align`; null if there is
  // none.
  chunk* take_spare(std::size_t least, std::size_t most, std::size_t align = alignof(chunk)) noexcept {
    for (chunk** link = &spares_; *link != nullptr && most != 0; link = &(*link)->older_, --most)
      if ((*link)->size_ >= least && is_aligned(*link, align)) return std::exchange(*link, (*link)->older_);
    return nullptr;
  }

  // Cuts off what no whole unit would fill, if that is more than a sixteenth: for blocks of 40 KiB a chunk of
  // 80 KiB is better than one of 100. A smaller remainder may serve others, and keeps chunks at round sizes.
  static constexpr std::size_t fitted(std::size_t wished, std::size_t unit) noexcept {
    if (unit <= wished / 16) return wished;
    const std::size_t rest = (wished - sizeof(chunk)) % unit;
    return rest > wished / 16 ? wished - rest : wished;
  }

  // Inlined, so that the upstream's arithmetic for a known size is done at compile time.
  MALLARD_INLINE chunk* obtain(std::size_t wished, std::size_t least, std::size_t align,
                               bool* is_fresh = nullptr) noexcept {
    const block memory = allocate_halving(upstream_, wished, least, align, is_fresh);
    if (!memory) return nullptr;
    held_ += memory.size;
    auto* const added = ::new (memory.data) chunk(nullptr, memory.size);
    if (align != alignof(chunk)) added->set_align(align);
    return added;
  }

  void give_back(chunk* c) noexcept {
    held_ -= c->size_;
    upstream_.deallocate(c, c->size_, c->align());
  }

  template <class Ends>
  void give_back_if(chunk*& list, Ends ends) noexcept {
    for (chunk** link = &list; *link != nullptr;) {
      chunk* const c = *link;
      if (ends(c)) {
        *link = c->older_;
        give_back(c);
      } else {
        link = &c->older_;
      }
    }
  }

  void give_back_all(chunk* list) noexcept {
    while (list != nullptr) give_back(std::exchange(list, list->older_));
  }

  Upstream upstream_;
  chunk* newest_ = nullptr;
  chunk* spares_ = nullptr;
  std::size_t held_ = 0;
};

}  // namespace mallard
