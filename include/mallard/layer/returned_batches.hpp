// returned_batches: freed blocks of one size that threads give back to all, without a lock.
//
//     top --> [next|below]       first block of the newest batch; `below` is the batch under it
//                |     '-----> [next|below] --> ...
//                v
//             [next|count]       second block; a batch of one has none
//                v
//             [next] --> ... --> [null]
//
// Any thread pushes a whole batch at any time by one compare-and-swap. One thread at a time pops: its
// callers hold a lock, so no batch can leave and come back while a pop looks at it (no ABA). What a
// thread has written into a block before the push is seen by who pops it.
// Blocks have at least `least_block` bytes. Cost: push and pop O(1), one contended word.
#pragma once

#include <atomic>
#include <cstddef>
#include <new>

#include "mallard/core/chain.hpp"

namespace mallard {

// Free blocks, linked by their first words, the last one's null. Empty: {}.
struct batch {
  chain::node* first = nullptr;
  std::size_t count = 0;

  [[nodiscard]] explicit operator bool() const noexcept { return first != nullptr; }

  // A batch of the one block at `p`.
  [[nodiscard]] static batch of(void* p) noexcept { return {::new (p) chain::node{nullptr}, 1}; }
};

class returned_batches {
 public:
  // Bytes of the smallest block that has room for what a batch writes into it.
  static constexpr std::size_t least_block = 2 * sizeof(void*);

  returned_batches() = default;
  returned_batches(const returned_batches&) = delete;
  returned_batches& operator=(const returned_batches&) = delete;

  // Precondition: not empty. Any thread.
  void push(batch given) noexcept {
    if (given.count > 1) ::new (given.first->next) second_block{*given.first->next, given.count};
    auto* const added = ::new (given.first) first_block{*given.first, top_.load(std::memory_order_relaxed)};
    while (!top_.compare_exchange_weak(added->below, added, std::memory_order_release,
                                       std::memory_order_relaxed)) {
    }
  }

  // The batch pushed last; empty when there is none. One thread at a time.
  [[nodiscard]] batch pop() noexcept {
    first_block* taken = top_.load(std::memory_order_acquire);
    while (taken != nullptr && !top_.compare_exchange_weak(taken, taken->below, std::memory_order_acquire,
                                                           std::memory_order_acquire)) {
    }
    return taken == nullptr ? batch{} : batch_at(taken);
  }

  // As pop, where that is a batch of one; else empty.
  [[nodiscard]] batch pop_single() noexcept {
    first_block* const seen = top_.load(std::memory_order_acquire);
    if (seen == nullptr || seen->link.next != nullptr) return {};
    return pop();
  }

  // Forgets all batches; nobody pushes.
  void clear() noexcept { top_.store(nullptr, std::memory_order_relaxed); }

  // Calls `f` with each batch, until one returns false; nobody pops.
  template <class F>
  void for_each(F f) const noexcept {
    for (first_block* b = top_.load(std::memory_order_acquire); b != nullptr; b = b->below)
      if (!f(batch_at(b))) return;
  }

 private:
  struct first_block {
    chain::node link;
    first_block* below;
  };
  struct second_block {
    chain::node link;
    std::size_t count;  // blocks of the batch
  };
  static_assert(sizeof(first_block) == least_block && sizeof(second_block) == least_block);

  static batch batch_at(first_block* b) noexcept {
    if (b->link.next == nullptr) return {&b->link, 1};
    return {&b->link, reinterpret_cast<const second_block*>(b->link.next)->count};
  }

  std::atomic<first_block*> top_{nullptr};
};

}  // namespace mallard
