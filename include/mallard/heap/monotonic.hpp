// monotonic: memory that only grows, and is freed all at once.
//
//     newest --> [header| b b b b b b |....free....] --> [header| b b b b b b b |] --> [ buffer, if lent ]
//                                     ^ cursor
//
// allocate advances a cursor. deallocate is empty and inline, so a compiler removes whole destructor walks
// over a typed container. Memory is freed by clear() (keeps the largest chunk), release() (keeps nothing),
// rewind() (keeps blocks older than the mark) and the destructor. The topmost block grows forward and shrinks
// in place. Blocks have no headers; the received size is the requested one.
// A buffer passed to the constructor is used first, without a header, and again after clear(), release() and
// rewind(). It is part of usage().held, but not of what the upstream counts.
// Apart from the buffer it holds nothing until that is full; then less than four times what was allocated
// (about twice if blocks are small compared with chunks) plus a page. A block counts here with the most
// padding its alignment may need, the alignment minus one byte. clear() keeps at most twice what was
// allocated since the last clear(), or what it kept then if that is more, plus a page.
// Cost: 6 instructions for a block of known size and alignment, 8 or 10 if one of them is known only at run
// time, 12 if both are; none to free it (./dev instructions). Debug builds validate the whole heap in
// clear(), release(), rewind() and the destructor.
// Seed 000, section 3 (monotonic allocators) and 4 (AS3 to AS6); seed 002, section 4.2 (regions).
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <utility>

#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/growth.hpp"
#include "mallard/layer/bump.hpp"
#include "mallard/layer/chunk_list.hpp"
#include "mallard/source/default_source.hpp"

namespace mallard {

// From one page, the least that the system provides, always doubling: n bytes cost O(log n) system calls,
// memory held in advance is untouched, and the largest chunk, kept by clear(), soon serves a whole cycle.
using monotonic_growth = doubling<4096, std::size_t{1} << 30>;

namespace detail {

// Whether constructor arguments are a buffer followed by the upstream's arguments.
template <class Upstream, class... Args>
inline constexpr bool begins_with_buffer = false;
template <class Upstream, class First, class... Rest>
inline constexpr bool begins_with_buffer<Upstream, First, Rest...> =
    std::convertible_to<First, std::span<std::byte>> && std::constructible_from<Upstream, Rest...>;

}  // namespace detail

template <heap Upstream = default_source, growth_policy Growth = monotonic_growth>
class basic_monotonic {
  using chunks = chunk_list<Upstream, Growth>;
  using chunk = typename chunks::chunk;

 public:
  using upstream_type = Upstream;

  template <class... Args>
    requires(constructible_as_root<Upstream, Args...> && !detail::begins_with_buffer<Upstream, Args...>)
  explicit basic_monotonic(Args&&... args) : chunks_(std::forward<Args>(args)...) {}

  // Over a buffer of the caller's, used before any chunk. It must outlive the heap and needs no alignment;
  // only blocks are written to it. `args` construct the upstream.
  template <class... Args>
    requires constructible_as_root<Upstream, Args...>
  explicit basic_monotonic(std::span<std::byte> buffer, Args&&... args)
      : chunks_(std::forward<Args>(args)...), buffer_(buffer), bump_(room_of(nullptr)) {}
  basic_monotonic(const basic_monotonic&) = delete;
  basic_monotonic& operator=(const basic_monotonic&) = delete;
  ~basic_monotonic() { MALLARD_VALIDATE(); }

  // Memory that is allocated from the upstream directly may end with this heap's clear() and release().
  [[nodiscard]] upstream_type& upstream() noexcept { return chunks_.upstream(); }
  [[nodiscard]] const upstream_type& upstream() const noexcept { return chunks_.upstream(); }

  [[nodiscard]] MALLARD_INLINE block allocate(std::size_t size, std::size_t align) noexcept {
    size += static_cast<std::size_t>(size == 0);
    void* p;
    if (bump_.take(size, align, p)) [[likely]]
      return {p, size};
    return allocate_slow(size, align);
  }

  MALLARD_INLINE void deallocate(void*, std::size_t, std::size_t) noexcept {}

  [[nodiscard]] std::size_t received_size(std::size_t size, std::size_t align) const noexcept {
    return chunks::can_hold(size, align) ? std::max<std::size_t>(size, 1) : 0;
  }

  void clear() noexcept {
    MALLARD_VALIDATE();
    chunks_.clear();
    bump_ = room_of(nullptr);
  }

  void release() noexcept {
    MALLARD_VALIDATE();
    chunks_.release();
    bump_ = room_of(nullptr);
  }

  class mark_type {
    friend class basic_monotonic;
    chunk* newest_ = nullptr;
    std::byte* cursor_ = nullptr;
  };

  [[nodiscard]] mark_type mark() const noexcept {
    mark_type here;
    here.newest_ = chunks_.newest();
    here.cursor_ = bump_.cursor();
    return here;
  }

  // The mark just before the live block at `p` was allocated, apart from the padding in front of it. O(newer
  // chunks). Debug builds check that a chunk contains the block.
  [[nodiscard]] mark_type mark_at(void* p) const noexcept {
    mark_type there;
    there.newest_ = chunks_.newest();
    while (there.newest_ != nullptr && !there.newest_->contains(p)) there.newest_ = there.newest_->older();
    MALLARD_CHECK(there.newest_ != nullptr || is_in_buffer(p));
    there.cursor_ = static_cast<std::byte*>(p);
    return there;
  }

  // The largest chunk that becomes empty is kept for reuse.
  void rewind(const mark_type& to) noexcept {
    MALLARD_VALIDATE();
    if (chunks_.newest() != to.newest_) {
      while (chunks_.newest() != to.newest_) chunks_.drop_newest();
      bump_ = room_of(to.newest_);
    }
    bump_.rewind(to.cursor_);
  }

  static constexpr resize_way ways =
      resize_way::expand_forward | resize_way::allocate_new | resize_way::shrink | resize_way::try_shrink;

  [[nodiscard]] resize_result resize(const resize_request& request) noexcept {
    const bool shrinking = has_way(request.ways, resize_way::shrink | resize_way::try_shrink);
    return shrinking ? shrink(request) : grow(request);
  }

  [[nodiscard]] bool owns(const void* p) const noexcept { return is_in_buffer(p) || chunks_.owns(p); }

  // Padding between blocks counts as granted: it cannot be distinguished from a block afterwards.
  [[nodiscard]] heap_usage usage() const noexcept {
    heap_usage found{buffer_.size() + chunks_.held(), 0, 0};
    chunk* const newest = chunks_.newest();
    found.granted = static_cast<std::size_t>((newest == nullptr ? bump_.cursor() : buffer_filled_) -
                                             room_of(nullptr).cursor());
    for (chunk* c = newest; c != nullptr; c = c->older()) {
      const std::byte* const filled = c == newest ? bump_.cursor() : c->filled();
      found.granted += static_cast<std::size_t>(filled - c->begin());
    }
    found.carved = found.granted;
    return found;
  }

  [[nodiscard]] violation validate() const noexcept {
    if (violation v = chunks_.validate()) return v;
    const bump whole = room_of(chunks_.newest());
    if (bump_.end() != whole.end()) return {"monotonic: the cursor belongs to another chunk"};
    if (bump_.cursor() < whole.cursor() || bump_.cursor() > whole.end())
      return {"monotonic: the cursor is outside its chunk"};
    return {};
  }

 private:
  [[nodiscard]] bool is_in_buffer(const void* p) const noexcept {
    return address_of(p) - address_of(buffer_.data()) < buffer_.size();
  }

  // The whole room of a chunk, or of the buffer, which acts as the oldest chunk.
  [[nodiscard]] bump room_of(chunk* c) const noexcept {
    if (c == nullptr) return {buffer_.data(), buffer_.data() + buffer_.size()};
    return {c->begin(), c->end()};
  }

  MALLARD_NOINLINE block allocate_slow(std::size_t size, std::size_t align) noexcept {
    chunk* const older = chunks_.newest();
    chunk* added = nullptr;
    do added = chunks_.add(size, align);
    while (added == nullptr && chunks_.give_spares_back());
    if (added == nullptr) return {};
    if (older == nullptr)
      buffer_filled_ = bump_.cursor();
    else
      older->set_filled(bump_.cursor());
    bump_ = room_of(added);
    void* p = nullptr;
    if (!bump_.take(size, align, p)) return {};
    return {p, size};
  }

  resize_result shrink(const resize_request& request) noexcept {
    const std::size_t size = std::max<std::size_t>(request.size, 1);
    if (bump_.is_top(request.data, size)) {
      const std::size_t smaller = std::min(size, std::max<std::size_t>(request.preferred, 1));
      bump_.resize_top(request.data, smaller);
      return {{request.data, smaller}, true};
    }
    if (size <= request.limit || has_way(request.ways, resize_way::try_shrink))
      return {{request.data, size}, true};
    return {};
  }

  resize_result grow(const resize_request& request) noexcept {
    const std::size_t size = std::max<std::size_t>(request.size, 1);
    const std::size_t preferred = std::max(request.preferred, request.limit);
    if (has_way(request.ways, resize_way::expand_forward)) {
      const std::size_t most = bump_.is_top(request.data, size) ? size + bump_.room() : size;
      if (request.limit <= most) {
        // One of the two sizes, so that the block is as large as it counts as requested, and is recognised as
        // the top.
        const std::size_t larger = std::max(size, preferred <= most ? preferred : request.limit);
        if (larger != size) bump_.resize_top(request.data, larger);
        return {{request.data, larger}, true};
      }
    }
    if (!has_way(request.ways, resize_way::allocate_new)) return {};
    block moved = allocate(preferred, request.align);
    if (!moved) moved = allocate(request.limit, request.align);
    return {moved, false};
  }

  chunks chunks_;
  std::span<std::byte> buffer_;
  std::byte* buffer_filled_ = nullptr;  // the end of its blocks, known while there is a chunk
  bump bump_;
};

using monotonic = basic_monotonic<>;

template <>
inline constexpr std::string_view heap_name<monotonic> = "monotonic";

}  // namespace mallard
