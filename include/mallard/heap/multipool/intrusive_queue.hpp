// intrusive_queue: free blocks, first in first out, linked through their own first word.
//
//     first --> [next|....] --> [next|....] --> [null|....] <-- last
//
// A free list that preserves order: blocks freed in sequence are reused in the same sequence, so a list that
// keeps freeing and allocating nodes stays in address order, which intrusive_stack would scramble. The price:
// two words, three instructions per pair, and reuse of the block that was freed longest ago and has most
// likely left the caches. The links have the form of a `chain`, so a whole chain is appended in O(1).
// Invariant: `last` is the end of a non-empty list and meaningless for an empty one. A linked block has at
// least sizeof(void*) bytes and is aligned to alignof(void*). Not synchronised.
#pragma once

#include <cstddef>
#include <new>

#include "mallard/core/attributes.hpp"
#include "mallard/core/chain.hpp"

namespace mallard {

class intrusive_queue {
 public:
  intrusive_queue() = default;

  // Takes over blocks already linked from `first` to `last`.
  intrusive_queue(chain::node* first, chain::node* last) noexcept : first_(first), last_(last) {}

  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

  // The block that pop() takes next; null if there is none.
  [[nodiscard]] void* top() const noexcept { return first_; }

  // Blocks. O(blocks).
  [[nodiscard]] std::size_t count() const noexcept {
    std::size_t blocks = 0;
    for (const void* p = first_; p != nullptr; p = next(p)) ++blocks;
    return blocks;
  }

  // The block that is taken after `p`, null behind the last.
  [[nodiscard]] static void* next(const void* p) noexcept { return static_cast<const chain::node*>(p)->next; }

  MALLARD_INLINE void push(void* p) noexcept {
    auto* const added = ::new (p) chain::node{nullptr};
    (first_ == nullptr ? first_ : last_->next) = added;
    last_ = added;
  }

  // Takes the first block out; null when there is none.
  [[nodiscard]] MALLARD_INLINE void* pop() noexcept {
    chain::node* const taken = first_;
    if (taken != nullptr) [[likely]]
      first_ = taken->next;
    return taken;
  }

  // Appends all blocks of `added` in their order; `added` is empty afterwards.
  void push(chain& added) noexcept {
    if (added.empty()) return;
    (first_ == nullptr ? first_ : last_->next) = static_cast<chain::node*>(added.front());
    last_ = static_cast<chain::node*>(added.back());
    added = chain{};
  }

 private:
  chain::node* first_ = nullptr;
  chain::node* last_ = nullptr;
};

}  // namespace mallard
