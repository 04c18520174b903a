// tagged_chunks<Upstream, Growth>: chunks from an upstream, divided into blocks with boundary tags.
//
//     [older newer size][tag| block ][tag| block ........ ][tag| block .... ][end]
//      head, 24 bytes    the first block lies behind a used one: nobody      ^ bytes of all blocks
//
// A new chunk is one free block; a chunk made by add_open() is one used block, and has no end tag before
// close(). The end is a tag without a block and always used, so coalescing never leaves the chunk. Chunks are
// doubly linked, so any of them can be returned. Their size follows the growth policy; if the upstream cannot
// provide it, half of it is asked for, and so on down to what is needed. Blocks of different chunks are never
// merged. Invariants: the sizes of a chunk's blocks add up to the word at its end; held() is the sum of the
// chunks' received sizes. Cost: 32 bytes per chunk; add and give_back are O(1) beside the upstream's, walks
// O(chunks) or O(blocks). Not synchronised.
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/boundary_tag.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/growth.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/layer/address_ranges.hpp"
#include "mallard/source/os_pages.hpp"

namespace mallard {

template <heap Upstream, growth_policy Growth, std::size_t LeastRoom>
class tagged_chunks {
  struct chunk {
    chunk* older;
    chunk* newer;
    std::size_t size;  // bytes received from upstream
  };
  static constexpr std::size_t framing = sizeof(chunk) + boundary_tag::overhead;
  static_assert(framing % boundary_tag::granule == 0, "so that the first block's data is aligned");

 public:
  using upstream_type = Upstream;

  template <class... Args>
    requires constructible_as_root<Upstream, Args...>
  explicit tagged_chunks(Args&&... args) : upstream_(std::forward<Args>(args)...) {}
  tagged_chunks(const tagged_chunks&) = delete;
  tagged_chunks& operator=(const tagged_chunks&) = delete;
  ~tagged_chunks() { release(); }

  [[nodiscard]] upstream_type& upstream() noexcept { return upstream_; }
  [[nodiscard]] const upstream_type& upstream() const noexcept { return upstream_; }
  [[nodiscard]] std::size_t held() const noexcept { return held_; }

  // The one free block of a new chunk, of at least `size` bytes; null when exhausted. Precondition: `size` is
  // a multiple of the granule, below max_request / 2.
  [[nodiscard]] boundary_tag* add(std::size_t size) noexcept {
    return obtain(size, held_ >= populated_from) ? make_whole(newest_) : nullptr;
  }

  // The same as a used block, without an end tag: only the chunk's start has been written. Until close(),
  // nothing may look behind the block or at all blocks.
  [[nodiscard]] boundary_tag* add_open(std::size_t size) noexcept {
    if (!obtain(size, false)) return nullptr;
    boundary_tag* const all = first_of(newest_);
    all->set_used(room_of(newest_));
    return all;
  }

  // Writes the end of the newest chunk, made by add_open(), whose last block is used.
  void close() noexcept {
    MALLARD_CHECK(newest_ != nullptr && newest_->older == nullptr && first_of(newest_)->is_used());
    const std::size_t room = room_of(newest_);
    boundary_tag* const end = first_of(newest_)->at(room);
    end->set_end(room);
    end->mark_previous_used();
  }

  // The size of the chunk that `b` fills.
  [[nodiscard]] static std::size_t size_of(const boundary_tag* b) noexcept {
    MALLARD_CHECK(b->is_whole_chunk());
    return (reinterpret_cast<const chunk*>(b) - 1)->size;
  }

  // Returns the chunk that `b` fills.
  void give_back(boundary_tag* b) noexcept {
    MALLARD_CHECK(b->is_whole_chunk());
    auto* const ended = reinterpret_cast<chunk*>(b) - 1;
    if (ended->older != nullptr) ended->older->newer = ended->newer;
    (ended->newer == nullptr ? newest_ : ended->newer->older) = ended->older;
    give_back(ended);
  }

  // Makes each chunk one free block, and calls f(block) for it, the newest chunk's first. O(chunks).
  template <class F>
  void make_all_whole(F f) noexcept {
    for (chunk* c = newest_; c != nullptr; c = c->older) f(make_whole(c));
  }

  // Calls f(first block) for each chunk, the newest first; f may give it back.
  template <class F>
  void each_first(F f) noexcept {
    for (chunk* c = newest_; c != nullptr;) {
      chunk* const older = c->older;
      f(first_of(c));
      c = older;
    }
  }

  // Returns all chunks, even with live blocks.
  void release() noexcept {
    while (newest_ != nullptr) give_back(std::exchange(newest_, newest_->older));
  }

  [[nodiscard]] bool owns(const void* p) const noexcept {
    for (const chunk* c = newest_; c != nullptr; c = c->older)
      if (address_of(p) - address_of(c) < c->size) return true;
    return false;
  }

  // The address ranges of the chunks' blocks, for a validation.
  [[nodiscard]] address_ranges block_ranges() const noexcept {
    return address_ranges([this](auto f) {
      for (const chunk* c = newest_; c != nullptr; c = c->older) f(first_of(c), room_of(c));
    });
  }

  // Used blocks, their tags included. O(blocks).
  [[nodiscard]] heap_usage usage() const noexcept {
    heap_usage found{held_, 0, 0};
    for (const chunk* c = newest_; c != nullptr; c = c->older)
      for (const boundary_tag* b = first_of(c); !b->ends_chunk(); b = b->next())
        if (b->is_used()) {
          found.carved += b->size();
          found.granted += b->usable();
        }
    return found;
  }

  // Adds the free blocks to `free_blocks`. O(blocks).
  [[nodiscard]] violation validate(std::size_t& free_blocks) const noexcept {
    std::size_t sum = 0;
    const chunk* newer = nullptr;
    for (const chunk* c = newest_; c != nullptr; newer = c, c = c->older) {
      if (!is_aligned(c, boundary_tag::granule)) return {"tagged_chunks: a chunk is misaligned"};
      if (c->newer != newer) return {"tagged_chunks: a chunk's neighbour does not point back at it"};
      if (c->size > held_ - sum) return {"tagged_chunks: the chunks are larger than what is held"};
      sum += c->size;
      if (violation v = validate_blocks(c, free_blocks)) return v;
    }
    if (sum != held_) return {"tagged_chunks: the chunks do not add up to what is held"};
    return {};
  }

 private:
  // Adds a newest chunk of which only the head is written; false when exhausted. `populates`: has its first
  // pages populated if they are fresh.
  MALLARD_INLINE bool obtain(std::size_t size, bool populates) noexcept {
    const std::size_t needed = std::max(size, LeastRoom) + framing;
    const std::size_t wished = std::max(Growth::next(newest_ == nullptr ? 0 : newest_->size, held_), needed);
    const block memory = populates ? allocate_populated(wished, needed)
                                   : allocate_halving(upstream_, wished, needed, boundary_tag::granule);
    if (!memory) return false;
    newest_ = ::new (memory.data) chunk{newest_, nullptr, memory.size};
    if (newest_->older != nullptr) newest_->older->newer = newest_;
    held_ += memory.size;
    return true;
  }

  // Memory for a chunk. If the system has just mapped it, its first pages are populated: it is a small part
  // of what is held, and will soon be used. A chunk for a single request may be larger, and stays as it is.
  MALLARD_NOINLINE block allocate_populated(std::size_t wished, std::size_t needed) noexcept {
    bool is_fresh = false;
    const block memory = allocate_halving(upstream_, wished, needed, boundary_tag::granule, &is_fresh);
    if (is_fresh && wished != needed && wished <= held_ / 8)
      os_pages::populate(
          static_cast<std::byte*>(memory.data) - address_of(memory.data) % os_pages::page_size(),
          std::min(memory.size, most_populated));
    return memory;
  }

  static constexpr std::size_t most_populated = std::size_t{1} << 18;  // at once, in 20 to 100 us

  static boundary_tag* first_of(chunk* c) noexcept { return reinterpret_cast<boundary_tag*>(c + 1); }
  static const boundary_tag* first_of(const chunk* c) noexcept {
    return reinterpret_cast<const boundary_tag*>(c + 1);
  }

  // Bytes of all blocks.
  static std::size_t room_of(const chunk* c) noexcept {
    return align_down(c->size - framing, boundary_tag::granule);
  }

  static boundary_tag* make_whole(chunk* c) noexcept {
    const std::size_t room = room_of(c);
    boundary_tag* const all = first_of(c);
    all->set_free(room);
    all->at(room)->set_end(room);
    return all;
  }

  static violation validate_blocks(const chunk* c, std::size_t& free_blocks) noexcept {
    const boundary_tag* b = first_of(c);
    std::size_t left = room_of(c);
    bool previous_used = true;
    for (; left != 0; b = b->next()) {
      if (b->ends_chunk() || b->size() < boundary_tag::least || b->size() > left)
        return {"tagged_chunks: a block has no valid size"};
      if (b->is_previous_used() != previous_used)
        return {"tagged_chunks: a tag is wrong about the block before"};
      if (!b->is_used() && !previous_used) return {"tagged_chunks: two free blocks are neighbours"};
      if (!b->is_used() && b->next()->previous_size() != b->size())
        return {"tagged_chunks: a free block's footer is not its size"};
      free_blocks += static_cast<std::size_t>(!b->is_used());
      previous_used = b->is_used();
      left -= b->size();
    }
    if (!b->ends_chunk() || !b->is_used() || b->size() != room_of(c))
      return {"tagged_chunks: a chunk has no end"};
    if (b->is_previous_used() != previous_used)
      return {"tagged_chunks: an end is wrong about the block before"};
    return {};
  }

  void give_back(chunk* c) noexcept {
    const std::size_t size = c->size;
    held_ -= size;
    upstream_.deallocate(c, size, boundary_tag::granule);
  }

  Upstream upstream_;
  chunk* newest_ = nullptr;
  std::size_t held_ = 0;
};

}  // namespace mallard
