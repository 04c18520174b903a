// returned_batches: freed blocks of one size that any thread may take over, in batches and without a lock.
//
//     top --> [next|below]       first block of the newest batch; `below` is the batch under it
//                |     '-----> [next|below] --> ...
//                v
//             [next|count]       second block; a batch of one has none
//                v
//             [next] --> ... --> [null]
//
// Any thread pushes a whole batch at any time by one compare-and-swap. Only one thread at a time pops, under
// its caller's lock, so no batch can leave and come back while a pop looks at it (no ABA problem). What a
// thread has written into a block before the push is visible to the thread that pops it.
// Blocks have at least `least_block` bytes. Cost: push and pop O(1), one contended word.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <new>
#include <span>
#include <type_traits>

#include "mallard/core/align.hpp"
#include "mallard/core/chain.hpp"
#include "mallard/core/magazine.hpp"

namespace mallard {

// Free blocks, linked by their first words, the last one's null. Empty: {}.
struct batch {
  chain::node* first = nullptr;
  std::size_t count = 0;

  [[nodiscard]] explicit operator bool() const noexcept { return first != nullptr; }

  // A block in front of the others.
  void push(magazine::slot block) noexcept {
    first = ::new (reinterpret_cast<void*>(block)) chain::node{first};
    ++count;
  }

  // Writes the blocks below `end`, the first one on top; returns their number.
  std::size_t spread(magazine::slot* end) const noexcept {
    for (const void* p = first; p != nullptr; p = chain::next(p)) *--end = address_of(p);
    return count;
  }

  // Blocks of an array, the last one first.
  [[nodiscard]] static batch of(std::span<const magazine::slot> blocks) noexcept {
    batch all;
    for (const magazine::slot block : blocks) all.push(block);
    return all;
  }

  // A batch of the one block at `p`.
  [[nodiscard]] static batch of(void* p) noexcept { return {::new (p) chain::node{nullptr}, 1}; }
};

// `Atomic` is std::atomic; a test replaces it to interrupt an operation between two accesses.
template <template <class> class Atomic = std::atomic>
class basic_returned_batches {
 public:
  // Bytes of the smallest block that has room for what a batch writes into it.
  static constexpr std::size_t least_block = 2 * sizeof(void*);

  basic_returned_batches() = default;
  basic_returned_batches(const basic_returned_batches&) = delete;
  basic_returned_batches& operator=(const basic_returned_batches&) = delete;

  // Precondition: not empty. Any thread.
  void push(batch given) noexcept {
    if (given.count > 1) ::new (given.first->next) second_block{*given.first->next, given.count};
    auto* const added = ::new (given.first) first_block{*given.first, top_.load(std::memory_order_relaxed)};
    while (!top_.compare_exchange_weak(added->below, added, std::memory_order_release,
                                       std::memory_order_relaxed)) {
    }
  }

  // Removes the newest batch; empty if there is none. One thread at a time.
  [[nodiscard]] batch pop() noexcept {
    return pop_if([](const first_block&) { return true; });
  }

  // Removes the newest batch if it is one block; otherwise empty. One thread at a time.
  [[nodiscard]] batch pop_single() noexcept {
    return pop_if([](const first_block& b) { return b.link.next == nullptr; });
  }

  // Forgets all batches. Precondition: no thread pushes.
  void clear() noexcept { top_.store(nullptr, std::memory_order_relaxed); }

  // Calls `f` with each batch until one call returns false. Precondition: no thread pops.
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

  // Removes the newest batch if it is `wanted`. One that is pushed meanwhile is the newest, and judged
  // instead.
  template <class F>
  batch pop_if(F wanted) noexcept {
    first_block* taken = top_.load(std::memory_order_acquire);
    while (taken != nullptr && wanted(*taken))
      if (top_.compare_exchange_weak(taken, taken->below, std::memory_order_acquire,
                                     std::memory_order_acquire))
        return batch_at(taken);
    return {};
  }

  static batch batch_at(first_block* b) noexcept {
    if (b->link.next == nullptr) return {&b->link, 1};
    return {&b->link, reinterpret_cast<const second_block*>(b->link.next)->count};
  }

  Atomic<first_block*> top_{nullptr};
};

using returned_batches = basic_returned_batches<>;

// Returned batches of each size of a heap. If `Counted`, it knows the number of batches in all lists: exact
// while no thread pushes or pops, near it otherwise, for an atomic addition per batch.
template <std::size_t Lists, bool Counted>
class returned_lists {
 public:
  // Precondition: not empty. Any thread.
  void push(std::size_t list, batch given) noexcept {
    lists_[list].push(given);
    if constexpr (Counted) count_.fetch_add(1, std::memory_order_relaxed);
  }

  // Removes the newest batch of a list; empty if there is none. One thread at a time.
  [[nodiscard]] batch pop(std::size_t list) noexcept { return taken(lists_[list].pop()); }

  // Removes the newest batch of a list if it is one block; otherwise empty. One thread at a time.
  [[nodiscard]] batch pop_single(std::size_t list) noexcept { return taken(lists_[list].pop_single()); }

  // Batches in all lists.
  [[nodiscard]] std::ptrdiff_t count() const noexcept
    requires Counted
  {
    return count_.load(std::memory_order_relaxed);
  }

  // Forgets all batches. Precondition: no thread pushes.
  void clear() noexcept {
    for (returned_batches& batches : lists_) batches.clear();
    if constexpr (Counted) count_.store(0, std::memory_order_relaxed);
  }

  // Calls `f` with each batch of a list until one call returns false. Precondition: no thread pops.
  template <class F>
  void for_each(std::size_t list, F f) const noexcept {
    lists_[list].for_each(f);
  }

 private:
  struct nothing {};

  batch taken(batch b) noexcept {
    if constexpr (Counted)
      if (b) count_.fetch_sub(1, std::memory_order_relaxed);
    return b;
  }

  std::array<returned_batches, Lists> lists_;
  [[no_unique_address]] std::conditional_t<Counted, std::atomic<std::ptrdiff_t>, nothing> count_{};
};

}  // namespace mallard
