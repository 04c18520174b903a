// returned_blocks: freed blocks of one size, which any thread may push and one thread takes, without a lock.
//
//     top --> [below|3| * | * | * ] --> [below|3| * | * | * ] --> [below|0|   ]
//                       |   |   '-> block                          a carrier of nothing but itself
//                       |   '-> block
//                       '-> block                                  not touched
//
// A block that is returned carries the addresses of others, as many as it has room for behind two words. So
// of sixteen blocks of 48 bytes four are written by the thread that frees them and read by the one that takes
// them, one of sixteen of 128 bytes and more; and the addresses come from a few cache lines of another
// processor, instead of one line a block, each found only by the one before it.
// Any thread pushes many blocks by one compare-and-swap. The owner takes all by an exchange, into a list that
// only it reads, so no block can leave and come back while somebody looks at it (no ABA problem). What a
// thread has written into a block before the push is visible to the thread that takes it.
//
// returned_large has the same for blocks of any size, each with its size and alignment in it.
// Blocks have at least `least_block` bytes, at a multiple of a word. Cost: push O(blocks), take O(1), one
// contended word each.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

#include "mallard/core/attributes.hpp"
#include "mallard/core/magazine.hpp"

namespace mallard {

// The blocks that one thread has taken or collects, of one size.
class carried_blocks {
  // The first two words of a block; addresses follow.
  struct carrier {
    carrier* below;
    std::size_t count;

    [[nodiscard]] magazine::slot* carried() noexcept { return reinterpret_cast<magazine::slot*>(this + 1); }
  };

 public:
  using slot = magazine::slot;

  // Bytes of the smallest block that can be a carrier.
  static constexpr std::size_t least_block = sizeof(carrier);

  carried_blocks() = default;

  [[nodiscard]] bool empty() const noexcept { return top_ == nullptr; }

  // Addresses that a block of `size` bytes has room for.
  static constexpr std::size_t capacity(std::size_t size) noexcept {
    return (size - sizeof(carrier)) / sizeof(slot);
  }

  // Adds blocks of `size` bytes; of fewer, as many as one carrier and what it carries, only the last one need
  // be as large.
  void push(std::span<const slot> blocks, std::size_t size) noexcept {
    const std::size_t most = capacity(size);
    while (!blocks.empty()) {
      const std::size_t carried = std::min(most, blocks.size() - 1);
      auto* const added = ::new (reinterpret_cast<void*>(blocks[carried])) carrier{top_, carried};
      if (top_ == nullptr) last_ = added;
      for (std::size_t i = 0; i != carried; ++i) ::new (added->carried() + i) slot(blocks[i]);
      top_ = added;
      blocks = blocks.subspan(carried + 1);
    }
  }

  // Writes up to `most` blocks below `end`, the first one on top; returns their number.
  std::size_t take(slot* end, std::size_t most) noexcept {
    std::size_t taken = 0;
    while (taken != most && top_ != nullptr) {
      for (std::size_t left = std::min(top_->count, most - taken); left != 0; --left)
        *(end - ++taken) = top_->carried()[--top_->count];
      if (taken == most) break;
      *(end - ++taken) = reinterpret_cast<slot>(top_);
      top_ = top_->below;
    }
    return taken;
  }

  // Calls f(p) for each block until one call returns false. Each carrier is passed before it is read.
  template <class F>
  void for_each(std::size_t size, F f) const noexcept {
    for (carrier* c = top_; c != nullptr; c = c->below) {
      if (!f(static_cast<const void*>(c))) return;
      for (std::size_t i = 0; i < std::min(c->count, capacity(size)); ++i)
        if (!f(reinterpret_cast<const void*>(c->carried()[i]))) return;
    }
  }

 private:
  friend class returned_blocks;

  carrier* top_ = nullptr;
  carrier* last_ = nullptr;  // of those that were pushed
};

class returned_blocks {
 public:
  returned_blocks() = default;
  returned_blocks(const returned_blocks&) = delete;
  returned_blocks& operator=(const returned_blocks&) = delete;

  // Whether there was none a moment ago. Any thread.
  [[nodiscard]] bool empty() const noexcept { return top_.load(std::memory_order_relaxed) == nullptr; }

  // Precondition: not empty. Any thread.
  void push(const carried_blocks& given) noexcept {
    MALLARD_ASSUME(given.last_ != nullptr);
    given.last_->below = top_.load(std::memory_order_relaxed);
    while (!top_.compare_exchange_weak(given.last_->below, given.top_, std::memory_order_release,
                                       std::memory_order_relaxed)) {
    }
  }

  // Takes all, in the place of `taken`, which is empty. One thread at a time.
  void take_all(carried_blocks& taken) noexcept {
    taken.top_ = top_.exchange(nullptr, std::memory_order_acquire);
  }

  // What take_all() would take now. Precondition: no thread takes.
  [[nodiscard]] carried_blocks peek() const noexcept {
    carried_blocks found;
    found.top_ = top_.load(std::memory_order_acquire);
    return found;
  }

  // Forgets all. Precondition: no thread pushes.
  void clear() noexcept { top_.store(nullptr, std::memory_order_relaxed); }

 private:
  std::atomic<carried_blocks::carrier*> top_ = nullptr;
};

// Blocks of any size. They come one by one, and each needs its size and alignment to be freed.
class returned_large {
 public:
  struct returned {
    returned* below;
    std::size_t size;  // in bytes, as it was freed with
    std::size_t align;
  };

  static constexpr std::size_t least_block = sizeof(returned);

  returned_large() = default;
  returned_large(const returned_large&) = delete;
  returned_large& operator=(const returned_large&) = delete;

  // Whether there was none a moment ago. Any thread.
  [[nodiscard]] bool empty() const noexcept { return top_.load(std::memory_order_relaxed) == nullptr; }

  // Any thread.
  void push(void* p, std::size_t size, std::size_t align) noexcept {
    auto* const added = ::new (p) returned{top_.load(std::memory_order_relaxed), size, align};
    while (!top_.compare_exchange_weak(added->below, added, std::memory_order_release,
                                       std::memory_order_relaxed)) {
    }
  }

  // Removes all and calls `free(p, size, align)` for each, the newest first. Any thread.
  template <class F>
  void take_all(F free) noexcept {
    returned* next = top_.exchange(nullptr, std::memory_order_acquire);
    while (next != nullptr) {
      const returned taken = *next;
      free(static_cast<void*>(next), taken.size, taken.align);
      next = taken.below;
    }
  }

  // Calls `f(returned)` with each. Precondition: no thread takes.
  template <class F>
  void for_each(F f) const noexcept {
    for (const returned* r = top_.load(std::memory_order_acquire); r != nullptr; r = r->below) f(*r);
  }

  // Forgets all. Precondition: no thread pushes.
  void clear() noexcept { top_.store(nullptr, std::memory_order_relaxed); }

 private:
  std::atomic<returned*> top_ = nullptr;
};

}  // namespace mallard
