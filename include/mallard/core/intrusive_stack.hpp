// intrusive_stack: free blocks, last in first out, linked through their own first word.
//
//     top --> [next|....] --> [next|....] --> [null|....]
//
// The leanest free list: one word, no count, so that a pop is two loads and a store. `chain` is its
// counted kin for bursts; links have the same form, so a whole chain is taken over in O(1).
// A linked block is at least sizeof(void*) bytes, aligned to alignof(void*). Not synchronised.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

#include "mallard/core/attributes.hpp"
#include "mallard/core/chain.hpp"

namespace mallard {

class intrusive_stack {
 public:
  intrusive_stack() = default;

  // Of the blocks that are linked already from `top` on, to the one named last where that is known.
  explicit intrusive_stack(chain::node* top) noexcept : top_(top) {}
  intrusive_stack(chain::node* top, chain::node*) noexcept : top_(top) {}

  [[nodiscard]] bool empty() const noexcept { return top_ == nullptr; }
  [[nodiscard]] void* top() const noexcept { return top_; }

  // Blocks. O(blocks).
  [[nodiscard]] std::size_t count() const noexcept {
    std::size_t blocks = 0;
    for (const void* p = top_; p != nullptr; p = next(p)) ++blocks;
    return blocks;
  }

  // The block under `p`, null at the bottom.
  [[nodiscard]] static void* next(const void* p) noexcept { return static_cast<const chain::node*>(p)->next; }

  MALLARD_INLINE void push(void* p) noexcept { top_ = ::new (p) chain::node{top_}; }

  // Takes the top block out; null when there is none.
  [[nodiscard]] MALLARD_INLINE void* pop() noexcept {
    chain::node* const taken = top_;
    if (taken != nullptr) [[likely]]
      top_ = taken->next;
    return taken;
  }

  // Takes the uppermost blocks out, `most` of them or all, linked as they are. O(blocks taken).
  [[nodiscard]] chain pop(std::size_t most) noexcept {
    chain::node* last = nullptr;
    std::size_t taken = 0;
    for (chain::node* n = top_; n != nullptr && taken != most; n = n->next, ++taken) last = n;
    if (last == nullptr) return {};
    chain::node* const first = std::exchange(top_, last->next);
    return {first, last, taken};
  }

  // Takes out one block that is among the first `most`; false where it is not. O(most).
  [[nodiscard]] bool take_out(const void* p, std::size_t most) noexcept {
    for (chain::node** link = &top_; *link != nullptr && most != 0; link = &(*link)->next, --most) {
      if (*link != p) continue;
      *link = (*link)->next;
      return true;
    }
    return false;
  }

  // Puts all blocks of `added` on top, its first one uppermost; `added` is empty afterwards.
  void push(chain& added) noexcept {
    if (added.empty()) return;
    static_cast<chain::node*>(added.back())->next = top_;
    top_ = static_cast<chain::node*>(added.front());
    added = chain{};
  }

 private:
  chain::node* top_ = nullptr;
};

}  // namespace mallard
