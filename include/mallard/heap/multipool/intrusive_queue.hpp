// intrusive_queue: free blocks, first in first out, linked through their own first word.
//
//     first --> [next|....] --> [next|....] --> [null|....] <-- last
//
// The free list that keeps order: blocks that were freed one after another are handed out one after another
// again, so that a list whose links come and go stays in the order of addresses, which `intrusive_stack`
// turns into disorder. Its price: two words, three instructions a pair, and what is handed out was
// freed longest ago and has left the caches soonest. Links have the form of a `chain`'s, so a whole chain is
// taken over in O(1). Invariant: `last` is the end of the list where that is not empty, and of no meaning
// else. A linked block is at least sizeof(void*) bytes, aligned to alignof(void*). Not synchronised.
#pragma once

#include <cstddef>
#include <new>

#include "mallard/core/attributes.hpp"
#include "mallard/core/chain.hpp"

namespace mallard {

class intrusive_queue {
 public:
  intrusive_queue() = default;

  // Of the blocks that are linked already from `first` to `last`.
  intrusive_queue(chain::node* first, chain::node* last) noexcept : first_(first), last_(last) {}

  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

  // What pop() takes next, null when there is nothing.
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

  // Puts all blocks of `added` behind the last, in their order; `added` is empty afterwards.
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
