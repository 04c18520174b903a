// chain: free or newly allocated blocks linked through their own first word.
//
//     first --> [next|....] --> [next|....] --> [null|....] <-- last
//
// Carries the blocks of a burst, i.e. a batch of blocks in one call (seed 001, "Burst allocation
// infrastructure"). A linked block has at least sizeof(void*) bytes and is aligned to alignof(void*). No
// operation allocates; all except traversal are O(1). Not synchronised.
#pragma once

#include <cstddef>
#include <new>

#include "mallard/core/check.hpp"

namespace mallard {

class chain {
 public:
  // The contents of a linked block.
  struct node {
    node* next;
  };

  chain() = default;

  // Takes over `count` blocks already linked from `first` to `last`; if `count` is 0, the chain is empty.
  chain(void* first, void* last, std::size_t count) noexcept {
    if (count == 0) return;
    root_.next = static_cast<node*>(first);
    last_ = static_cast<node*>(last);
    last_->next = nullptr;
    size_ = count;
  }

  [[nodiscard]] bool empty() const noexcept { return root_.next == nullptr; }

  // Blocks linked.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  [[nodiscard]] void* front() const noexcept { return root_.next; }
  [[nodiscard]] void* back() const noexcept { return last_; }

  // The block linked behind `p`, null at the end.
  [[nodiscard]] static void* next(const void* p) noexcept { return static_cast<const node*>(p)->next; }

  void push_front(void* p) noexcept {
    MALLARD_CHECK(p != nullptr);
    root_.next = ::new (p) node{root_.next};
    if (last_ == nullptr) last_ = root_.next;
    ++size_;
  }

  void push_back(void* p) noexcept {
    MALLARD_CHECK(p != nullptr);
    node* added = ::new (p) node{nullptr};
    if (last_ == nullptr)
      root_.next = added;
    else
      last_->next = added;
    last_ = added;
    ++size_;
  }

  // Takes the first block out; precondition: not empty.
  [[nodiscard]] void* pop_front() noexcept {
    MALLARD_CHECK(!empty());
    node* taken = root_.next;
    root_.next = taken->next;
    if (root_.next == nullptr) last_ = nullptr;
    --size_;
    return taken;
  }

  // Moves all blocks of `other` behind the last one; `other` is empty afterwards.
  void splice_back(chain& other) noexcept {
    if (other.empty()) return;
    if (last_ == nullptr)
      root_.next = other.root_.next;
    else
      last_->next = other.root_.next;
    last_ = other.last_;
    size_ += other.size_;
    other = chain{};
  }

  // The place before the first block. A place names the block at it and the position behind it.
  [[nodiscard]] node* before_front() noexcept { return &root_; }

  // Moves all blocks of `other` behind `place`, a place in this chain; `other` is empty afterwards.
  void splice_after(node* place, chain& other) noexcept {
    if (other.empty()) return;
    other.last_->next = place->next;
    place->next = other.root_.next;
    if (other.last_->next == nullptr) last_ = other.last_;
    size_ += other.size_;
    other = chain{};
  }

  // Removes the `count` blocks behind `place`, of which `last` is the last; none if `count` is 0.
  [[nodiscard]] chain take_after(node* place, void* last, std::size_t count) noexcept {
    if (count == 0) return {};
    node* const behind = static_cast<node*>(last)->next;
    const chain taken(place->next, last, count);
    place->next = behind;
    if (behind == nullptr) last_ = place == &root_ ? nullptr : place;
    size_ -= count;
    return taken;
  }

 private:
  node root_{nullptr};  // the place before the first
  node* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace mallard
