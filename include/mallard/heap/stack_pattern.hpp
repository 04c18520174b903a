// stack_pattern: blocks that are mostly freed in reverse order of allocation.
//
//     [below|block][below|freed][below|freed][below|block] free ......
//           ^------------'^------------'^----------'  top             a header of a word each
//
//     freeing the top:   the cursor moves back over it, and over all free blocks below it
//     freeing another:   the block is marked; its memory waits until it is at the top
//
// allocate advances a cursor, as in a region; blocks freed in stack order are reused at once. If lifetimes
// are not stack-like, one old block at the top keeps all freed blocks below it, without bound: that is the
// price of this pattern. It continues in further chunks; an emptied chunk is kept if it is the largest so
// far or the first. Memory is freed by clear() (keeps the largest chunk), release() and the destructor.
// Invariant: a header precedes its block; headers are linked from the top to the first block, through all
// chunks; the top is never free.
// Cost: a pair in stack order takes 23 instructions, one whose free only marks 16 (./dev instructions);
// freeing is amortised O(1). Received sizes are requested sizes. Not synchronised. Debug builds detect a
// double free.
// Seed 002, section 4.2 (custom pattern: 197.parser's allocator, there in 30 MB).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/growth.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/heap/region.hpp"
#include "mallard/layer/bump.hpp"
#include "mallard/layer/chunk_list.hpp"
#include "mallard/source/default_source.hpp"

namespace mallard {

template <heap Upstream = default_source, growth_policy Growth = region_growth>
class basic_stack_pattern {
  using chunks = chunk_list<Upstream, Growth>;
  using chunk = typename chunks::chunk;

 public:
  using upstream_type = Upstream;

  template <class... Args>
    requires constructible_as_root<Upstream, Args...>
  explicit basic_stack_pattern(Args&&... args) : chunks_(std::forward<Args>(args)...) {}
  basic_stack_pattern(const basic_stack_pattern&) = delete;
  basic_stack_pattern& operator=(const basic_stack_pattern&) = delete;
  ~basic_stack_pattern() { MALLARD_VALIDATE(); }

  [[nodiscard]] upstream_type& upstream() noexcept { return chunks_.upstream(); }
  [[nodiscard]] const upstream_type& upstream() const noexcept { return chunks_.upstream(); }

  [[nodiscard]] MALLARD_INLINE block allocate(std::size_t size, std::size_t align) noexcept {
    size += static_cast<std::size_t>(size == 0);
    void* const p = push(size, align);
    if (p != nullptr) [[likely]]
      return {p, size};
    return allocate_slow(size, align);
  }

  MALLARD_INLINE void deallocate(void* p) noexcept {
    header* const ended = static_cast<header*>(p) - 1;
    MALLARD_CHECK(!ended->is_freed());
    if (ended != top()) {
      ended->link |= freed;
      return;
    }
    leave(ended);
    if (top() != nullptr && top()->is_freed()) [[unlikely]]
      leave_freed();
  }

  MALLARD_INLINE void deallocate(void* p, std::size_t, std::size_t) noexcept { deallocate(p); }

  [[nodiscard]] std::size_t received_size(std::size_t size, std::size_t align) const noexcept {
    if (!chunks::can_hold(size, align)) return 0;
    return chunks::can_hold(with_header(size, align), 1) ? std::max<std::size_t>(size, 1) : 0;
  }

  void clear() noexcept {
    MALLARD_VALIDATE();
    chunks_.clear();
    forget();
  }

  void release() noexcept {
    MALLARD_VALIDATE();
    chunks_.release();
    forget();
  }

  [[nodiscard]] bool owns(const void* p) const noexcept { return chunks_.owns(p); }

  // Padding for the alignment of a block counts with the block below it.
  [[nodiscard]] heap_usage usage() const noexcept {
    heap_usage found{chunks_.held(), 0, 0};
    chunk* in = chunks_.newest();
    const std::byte* end = bump_.cursor();
    for (const header* h = top(); h != nullptr; h = h->below()) {
      if (!h->is_freed()) {
        found.carved += static_cast<std::size_t>(end - h->begin());
        found.granted += static_cast<std::size_t>(end - h->begin()) - sizeof(header);
      }
      end = h->begin();
      if (!h->is_first()) continue;
      in = in->older();
      end = in->filled();
    }
    return found;
  }

  [[nodiscard]] violation validate() const noexcept {
    if (violation v = chunks_.validate()) return v;
    chunk* in = chunks_.newest();
    const std::byte* end = bump_.cursor();
    if (in != nullptr && (bump_.end() != in->end() || end < in->begin() || end > in->end()))
      return {"stack_pattern: the cursor is outside its chunk"};
    if (top() == nullptr && in != nullptr && in->older() != nullptr)
      return {"stack_pattern: a chunk is kept for no block"};
    for (const header* h = top(); h != nullptr; h = h->below()) {
      if (in == nullptr || h->begin() < in->begin() || end <= h->begin() + sizeof(header))
        return {"stack_pattern: a block is not below the one above it"};
      if (h == top() && h->is_freed()) return {"stack_pattern: the block at the top is freed"};
      end = h->begin();
      if (!h->is_first()) continue;
      in = in->older();
      if (in == nullptr || h->below() == nullptr) return {"stack_pattern: a block is in no chunk"};
      end = in->filled();
    }
    if (top() != nullptr && in->older() != nullptr)
      return {"stack_pattern: a chunk is below the first block"};
    return {};
  }

 private:
  static constexpr std::uintptr_t freed = 1;  // the block behind this header waits for those above it
  static constexpr std::uintptr_t first = 2;  // of its chunk: the block below is in an older one

  struct header {
    std::uintptr_t link;  // the header of the block below, and the flags

    [[nodiscard]] header* below() const noexcept {
      return reinterpret_cast<header*>(link & ~(freed | first));
    }
    [[nodiscard]] bool is_freed() const noexcept { return (link & freed) != 0; }
    [[nodiscard]] bool is_first() const noexcept { return (link & first) != 0; }
    [[nodiscard]] const std::byte* begin() const noexcept { return reinterpret_cast<const std::byte*>(this); }
  };

  // Null if there is no block.
  [[nodiscard]] header* top() const noexcept { return reinterpret_cast<header*>(next_ & ~first); }

  // The most bytes that a block and its header take of a chunk; precondition: a chunk can hold the block.
  static constexpr std::size_t with_header(std::size_t size, std::size_t align) noexcept {
    return size + std::max(align, default_align);
  }

  // Pushes a block in the current chunk; null with nothing changed if it does not fit.
  MALLARD_INLINE void* push(std::size_t size, std::size_t align) noexcept {
    bump moved = bump_;
    moved.rewind(reinterpret_cast<std::byte*>(address_of(bump_.cursor()) + sizeof(header)));
    void* p = nullptr;
    if (!moved.take(size, std::max(align, alignof(header)), p)) [[unlikely]]
      return nullptr;
    bump_ = moved;
    next_ = reinterpret_cast<std::uintptr_t>(::new (static_cast<header*>(p) - 1) header{next_});
    return p;
  }

  // Takes the block at the top off.
  MALLARD_INLINE void leave(header* ended) noexcept {
    if (ended->is_first()) [[unlikely]]
      return leave_chunk(ended->below());
    bump_.rewind(reinterpret_cast<std::byte*>(ended));
    next_ = ended->link & ~freed;
  }

  MALLARD_NOINLINE void leave_freed() noexcept {
    while (top() != nullptr && top()->is_freed()) leave(top());
  }

  // The newest chunk is empty, and ends.
  MALLARD_NOINLINE void leave_chunk(const header* below) noexcept {
    chunks_.drop_newest();
    bump_ = {chunks_.newest()->filled(), chunks_.newest()->end()};
    next_ = reinterpret_cast<std::uintptr_t>(below);
  }

  MALLARD_NOINLINE block allocate_slow(std::size_t size, std::size_t align) noexcept {
    if (received_size(size, align) == 0) return {};
    if (top() == nullptr && chunks_.newest() != nullptr) {  // empty, and too small
      chunks_.drop_newest();
      bump_ = {};
    }
    chunk* const older = chunks_.newest();
    chunk* added = nullptr;
    do added = chunks_.add(with_header(size, align), 1);
    while (added == nullptr && chunks_.give_spares_back());
    if (added == nullptr) return {};
    if (older != nullptr) older->set_filled(bump_.cursor());
    bump_ = {added->begin(), added->end()};
    if (older != nullptr) next_ |= first;
    return {push(size, align), size};
  }

  void forget() noexcept {
    bump_ = {};
    next_ = 0;
  }

  std::uintptr_t next_ = 0;  // the link of the next block
  bump bump_;
  chunks chunks_;
};

using stack_pattern = basic_stack_pattern<>;

template <>
inline constexpr std::string_view heap_name<stack_pattern> = "stack_pattern";

}  // namespace mallard
