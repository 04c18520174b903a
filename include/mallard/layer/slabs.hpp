// slabs<Upstream, Growth>: large chunks cut into stretches for many small users.
//
//     chunk  [header| stretch of 48s | stretch of 16s | pad | stretch of 4096s |.... free ....]
//                                                                               ^ one of four cursors
//
// All size classes of one heap so share a few chunks instead of taking a page each. A stretch is a
// whole number of units, at least one and at most as many as wished: the end of a chunk is used up
// by a shorter stretch. A chunk is added when a unit fits in none of the four open places; a place
// whose room is the least is then closed. With one place, units of many pages would leave up to
// their own size unused at the end of every chunk. Stretches are never given back one by one.
// Invariant: each cursor lies in a chunk of the list. Cost: O(1), O(chunks) to end them all.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/layer/bump.hpp"
#include "mallard/layer/chunk_list.hpp"
#include "mallard/layer/growth.hpp"

namespace mallard {

// A piece of a chunk; null when exhausted.
struct stretch {
  std::byte* begin = nullptr;
  std::byte* end = nullptr;
};

template <heap Upstream, growth_policy Growth>
class slabs {
  using chunks = chunk_list<Upstream, Growth>;

 public:
  template <class... Args>
    requires std::constructible_from<Upstream, Args...>
  explicit slabs(Args&&... args) : chunks_(std::forward<Args>(args)...) {}
  slabs(const slabs&) = delete;
  slabs& operator=(const slabs&) = delete;

  // 1 to `most` units of `unit` bytes, beginning at a multiple of `align`; the `prefix` bytes in front
  // of them are the caller's as well.
  [[nodiscard]] stretch cut(std::size_t prefix, std::size_t align, std::size_t unit,
                            std::size_t most) noexcept {
    for (bump& place : open_) {
      const stretch taken = cut_from(place, prefix, align, unit, most);
      if (taken.begin != nullptr) return taken;
    }
    const std::size_t least = prefix + align + unit;
    auto* const added = chunks_.add(least, default_align, least);
    if (added == nullptr) return {};
    bump fresh{added->begin(), added->end()};
    const stretch taken = cut_from(fresh, prefix, align, unit, most);
    bump& fullest = *std::min_element(open_.begin(), open_.end(), by_room);
    if (fresh.room() > fullest.room()) fullest = fresh;
    return taken;
  }

  // Ends all stretches; keeps all chunks.
  void clear() noexcept {
    chunks_.recycle();
    open_ = {};
  }

  void release() noexcept {
    chunks_.release();
    open_ = {};
  }

  [[nodiscard]] std::size_t held() const noexcept { return chunks_.held(); }
  [[nodiscard]] bool owns(const void* p) const noexcept { return chunks_.owns(p); }

  [[nodiscard]] fault validate() const noexcept {
    if (fault f = chunks_.validate()) return f;
    for (const bump& place : open_)
      if (place.room() != 0 && !chunks_.owns(place.cursor()))
        return {"slabs: a cursor is outside all chunks"};
    return {};
  }

 private:
  static bool by_room(const bump& a, const bump& b) noexcept { return a.room() < b.room(); }

  static stretch cut_from(bump& from, std::size_t prefix, std::size_t align, std::size_t unit,
                          std::size_t most) noexcept {
    if (from.room() < prefix) return {};
    const std::size_t front = prefix + padding_for(from.cursor() + prefix, align);
    if (from.room() < front || from.room() - front < unit) return {};
    const std::size_t units = std::min(most, (from.room() - front) / unit);
    std::byte* const begin = from.cursor() + front;
    std::byte* const end = begin + units * unit;
    from.rewind(end);
    return {begin, end};
  }

  chunks chunks_;
  std::array<bump, 4> open_;
};

}  // namespace mallard
