// intrusive_stack: free blocks, last in first out, linked through their own first word.
//
//     top --> [next|....] --> [next|....] --> [null|....]
//
// The smallest free list: one word and no count, so a pop takes two loads and a store. The links have the
// form of a `chain`, which counts its blocks, so a whole chain is pushed in O(1). A linked block has at least
// sizeof(void*) bytes and is aligned to alignof(void*). Not synchronised.
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

  // Takes over blocks already linked from `top` on; the last one may be named if it is known.
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

  // Removes up to `most` blocks from the top, linked as they are. O(blocks removed).
  [[nodiscard]] chain pop(std::size_t most) noexcept {
    chain::node* last = nullptr;
    std::size_t taken = 0;
    for (chain::node* n = top_; n != nullptr && taken != most; n = n->next, ++taken) last = n;
    if (last == nullptr) return {};
    chain::node* const first = std::exchange(top_, last->next);
    return {first, last, taken};
  }

  // Removes a block if it is among the first `most`; otherwise returns false. O(most).
  [[nodiscard]] bool take_out(const void* p, std::size_t most) noexcept {
    for (chain::node** link = &top_; *link != nullptr && most != 0; link = &(*link)->next, --most) {
      if (*link != p) continue;
      *link = (*link)->next;
      return true;
    }
    return false;
  }

  // Pushes all blocks of `added`, its first one on top; `added` is empty afterwards.
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
