// lazy_stacks<N>: N stacks of free blocks that are initialised when first needed.
//
//     closed   seen --> [null null null ... ]   constant, one for all
//     open     seen --> [top  null top  ... ]   its own
//
// For the free lists of heaps that are created often and free seldom. A pop reads through `seen`, so it needs
// no test for the closed state. Invariant: while closed, nothing is pushed and the own stacks are not read.
// Cost: a pop takes one load more than intrusive_stack's, a push nothing more; open() is O(N), close() O(1).
// Not synchronised.
#pragma once

#include <cstddef>
#include <new>

#include "mallard/core/attributes.hpp"
#include "mallard/core/chain.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/intrusive_stack.hpp"

namespace mallard {

template <std::size_t N>
class lazy_stacks {
 public:
  lazy_stacks() noexcept {}  // NOLINT(modernize-use-equals-default): that would write all stacks
  lazy_stacks(const lazy_stacks&) = delete;
  lazy_stacks& operator=(const lazy_stacks&) = delete;

  [[nodiscard]] static constexpr std::size_t size() noexcept { return N; }
  [[nodiscard]] bool is_open() const noexcept { return seen_ == own_; }

  // Makes all stacks empty ones that blocks can be pushed on.
  void open() noexcept {
    for (intrusive_stack& s : own_) ::new (&s) intrusive_stack;
    seen_ = own_;
  }

  // Drops all blocks.
  void close() noexcept { seen_ = none; }

  // The top block of the i-th stack; null if it is empty.
  [[nodiscard]] MALLARD_INLINE void* top(std::size_t i) const noexcept { return seen_[i].top(); }

  // Takes it out.
  [[nodiscard]] MALLARD_INLINE void* pop(std::size_t i) noexcept {
    void* const taken = top(i);
    if (taken != nullptr) [[likely]]
      own_[i] = intrusive_stack(static_cast<chain::node*>(intrusive_stack::next(taken)));
    return taken;
  }

  // Precondition: open.
  MALLARD_INLINE void push(std::size_t i, void* p) noexcept {
    MALLARD_CHECK(is_open());
    own_[i].push(p);
  }

  // Removes a block if it is among the first `most` of the i-th stack; otherwise returns false. O(most).
  [[nodiscard]] bool take_out(std::size_t i, const void* p, std::size_t most) noexcept {
    return is_open() && own_[i].take_out(p, most);
  }

 private:
  // Outlives a library that hides its symbols and has closed a heap of others.
  MALLARD_VISIBLE static constexpr intrusive_stack none[N]{};

  const intrusive_stack* seen_ = none;
  union {
    intrusive_stack own_[N];
  };
};

}  // namespace mallard
