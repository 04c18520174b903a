// shared_chunks<Upstream, Growth>: large chunks cut into spans for many small users.
//
//     chunk  [header| span of 48s | span of 16s | pad | span of 4096s |.... free ....]
//                                                                               ^ one of four cursors
//
// All size classes of a heap share a few chunks instead of taking a page each. A span is a whole number of
// units, at least one, or as many as must be adjacent, and at most the preferred number: a shorter span uses
// up the end of a chunk. A chunk is added if a unit fits into none of the four open places; the place with
// the least room is then closed. With only one place, units of many pages could leave up to their own size
// unused at the end of every chunk. Spans are never returned one by one. Chunks kept by clear() are returned
// before a single unit is refused. Invariant: each cursor lies in a chunk of the list. Cost: O(1), O(chunks)
// to end them all.
//
//     chunk  |[header| taken ..... | taken ............ |  free ..........|      at multiples of their size
//
// Aligned spans of one size come from chunks of their own, whose header lies in the first of them. Once a
// megabyte is held, the pages of a chunk that the system has just mapped are populated in steps of 64 KiB:
// that saves a tenth to a fifth of the time of a first life, and makes at most one step resident too early.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/growth.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/layer/address_ranges.hpp"
#include "mallard/layer/bump.hpp"
#include "mallard/layer/chunk_list.hpp"
#include "mallard/source/os_pages.hpp"

namespace mallard {

// A part of a chunk; null when exhausted.
struct span {
  std::byte* begin = nullptr;
  std::byte* end = nullptr;
};

template <heap Upstream, growth_policy Growth>
class shared_chunks {
  using chunks = chunk_list<Upstream, Growth>;

 public:
  template <class... Args>
    requires constructible_as_root<Upstream, Args...>
  explicit shared_chunks(Args&&... args) : chunks_(std::forward<Args>(args)...) {}
  shared_chunks(const shared_chunks&) = delete;
  shared_chunks& operator=(const shared_chunks&) = delete;

  // `least` to `most` units of `unit` bytes, starting at a multiple of `align`, with `prefix` more bytes in
  // front of them. Precondition: prefix + align + least * unit does not overflow.
  [[nodiscard]] span cut(std::size_t prefix, std::size_t align, std::size_t unit, std::size_t most,
                         std::size_t least = 1) noexcept {
    bump* fullest = open_.data();
    for (std::size_t i = 0; i < places_; ++i) {
      const span taken = cut_from(open_[i], prefix, align, unit, most, least);
      if (taken.begin != nullptr) return taken;
      if (open_[i].room() < fullest->room()) fullest = &open_[i];
    }
    const std::size_t needed = prefix + align + least * unit;
    typename chunks::chunk* added = nullptr;
    do added = chunks_.add(needed, default_align, needed);
    while (added == nullptr && least == 1 && give_spares_back());
    if (added == nullptr) return {};
    bump fresh{added->begin(), added->end()};
    const span taken = cut_from(fresh, prefix, align, unit, most, least);
    if (places_ < open_.size())
      open_[places_++] = fresh;
    else if (fresh.room() > fullest->room())
      *fullest = fresh;
    return taken;
  }

  // `size` bytes at a multiple of `align`, from the same place as the previous call; null if they do not fit
  // there.
  [[nodiscard]] MALLARD_INLINE void* take(std::size_t size, std::size_t align) noexcept {
    void* taken = nullptr;
    if (current_ < places_ && open_[current_].take(size, align, taken)) [[likely]]
      return taken;
    return nullptr;
  }

  // The same, from any place, or null: as cut(0, align, size, 1).
  [[nodiscard]] void* take_slow(std::size_t size, std::size_t align) noexcept {
    const span taken = cut(0, align, size, 1);
    for (std::size_t i = 0; i < places_; ++i)
      if (open_[i].cursor() == taken.end) current_ = i;
    return taken.begin;
  }

  // The whole room of a new chunk with at least `needed` bytes, for the caller to cut up; null when
  // exhausted.
  [[nodiscard]] span take_chunk(std::size_t needed) noexcept {
    typename chunks::chunk* added = nullptr;
    do added = chunks_.add(needed, default_align);
    while (added == nullptr && give_spares_back());
    if (added == nullptr) return {};
    return {added->begin(), added->end()};
  }

  // `size` bytes at a multiple of `size`, a power of two, the same in all calls. The first header_size bytes
  // may be taken. Null if no memory is so aligned.
  [[nodiscard]] std::byte* take_aligned(std::size_t size) noexcept {
    if (aligned_.room() < size) {
      typename chunks::chunk* added = nullptr;
      bool is_fresh = false;
      do added = chunks_.add_aligned(size, is_fresh);
      while (added == nullptr && give_spares_back());
      if (added == nullptr) return nullptr;
      aligned_ = bump{reinterpret_cast<std::byte*>(added), added->end()};
      newest_aligned_ = added;
      populated_ = is_fresh ? reinterpret_cast<std::byte*>(added) : added->end();
    }
    std::byte* const taken = aligned_.cursor();
    aligned_.rewind(taken + size);
    newest_aligned_->set_filled(taken + size);
    if (populated_ < taken + size && populated_from <= chunks_.held()) populate(taken);
    return taken;
  }

  // Bytes of a chunk's header.
  static constexpr std::size_t header_size = sizeof(typename chunks::chunk);

  // Calls `f` with the start of each span that take_aligned(size) has returned.
  template <class F>
  void for_each_aligned(std::size_t size, F f) const noexcept {
    for (typename chunks::chunk* c = chunks_.newest(); c != nullptr; c = c->older())
      if (c->filled() != c->begin())
        for (auto* p = reinterpret_cast<std::byte*>(c); p < c->filled(); p += size) f(p);
  }

  // Returns chunks that clear() has kept and that are unused since; whether there were any.
  [[nodiscard]] bool give_spares_back() noexcept { return chunks_.give_spares_back(); }

  // Ends all spans; keeps all chunks.
  void clear() noexcept {
    chunks_.recycle();
    close();
  }

  void release() noexcept {
    chunks_.release();
    close();
  }

  // Ends all spans and drops all chunks, which their upstream ends.
  void forget() noexcept {
    chunks_.forget();
    close();
  }

  [[nodiscard]] std::size_t held() const noexcept { return chunks_.held(); }
  [[nodiscard]] bool owns(const void* p) const noexcept { return chunks_.owns(p); }

  [[nodiscard]] address_ranges chunk_ranges() const noexcept { return chunks_.chunk_ranges(); }

  [[nodiscard]] violation validate() const noexcept {
    if (violation v = chunks_.validate()) return v;
    for (std::size_t i = 0; i < places_; ++i)
      if (open_[i].room() != 0 && !chunks_.owns(open_[i].cursor()))
        return {"shared_chunks: a cursor is outside all chunks"};
    return {};
  }

  // Cuts a span from one place, as cut() does; null if it has no room.
  [[nodiscard]] static span cut_from(bump& from, std::size_t prefix, std::size_t align, std::size_t unit,
                                     std::size_t most, std::size_t least) noexcept {
    const std::size_t needed = prefix + least * unit;
    if (from.room() < needed) return {};
    const std::size_t padding = padding_for(from.cursor() + prefix, align);
    if (from.room() - needed < padding) return {};
    const std::size_t front = prefix + padding;
    const std::size_t room = from.room() - front;
    const std::size_t units = most * unit <= room ? most : room / unit;
    std::byte* const begin = from.cursor() + front;
    std::byte* const end = begin + units * unit;
    from.rewind(end);
    return {begin, end};
  }

 private:
  static constexpr std::size_t populated_at_once = std::size_t{1} << 16;

  void close() noexcept {
    places_ = 0;
    aligned_ = {};
  }

  // The step that starts with the span at `taken`.
  MALLARD_NOINLINE void populate(std::byte* taken) noexcept {
    const auto bytes = std::min(populated_at_once, static_cast<std::size_t>(aligned_.end() - taken));
    if (is_aligned(taken, os_pages::page_size())) os_pages::populate(taken, bytes);
    populated_ = taken + bytes;
  }

  chunks chunks_;
  bump aligned_;  // the rest of the newest chunk of aligned spans
  typename chunks::chunk* newest_aligned_ = nullptr;
  std::byte* populated_ = nullptr;  // the end of what is populated of that chunk
  std::array<bump, 4> open_;        // the first `places_` of them
  std::size_t places_ = 0;
  std::size_t current_ = 0;  // the place that take() tries
};

}  // namespace mallard
