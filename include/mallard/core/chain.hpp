// chain: free or freshly allocated blocks linked through their own first word.
//
//     first --> [next|....] --> [next|....] --> [null|....] <-- last
//
// It carries the blocks of a burst (seed 001, "Burst allocation infrastructure") and is the free
// list of the layers. A linked block is at least sizeof(void*) bytes, aligned to alignof(void*).
// No operation allocates; each but the traversal is O(1). Not synchronised.
#pragma once

#include <cstddef>
#include <new>

#include "mallard/core/check.hpp"

namespace mallard {

class chain {
 public:
  // What stands in a linked block.
  struct node {
    node* next;
  };

  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

  // Blocks linked.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  [[nodiscard]] void* front() const noexcept { return first_; }
  [[nodiscard]] void* back() const noexcept { return last_; }

  // The block linked behind `p`, null at the end.
  [[nodiscard]] static void* next(const void* p) noexcept { return static_cast<const node*>(p)->next; }

  void push_front(void* p) noexcept {
    MALLARD_CHECK(p != nullptr);
    first_ = ::new (p) node{first_};
    if (last_ == nullptr) last_ = first_;
    ++size_;
  }

  void push_back(void* p) noexcept {
    MALLARD_CHECK(p != nullptr);
    node* added = ::new (p) node{nullptr};
    if (last_ == nullptr)
      first_ = added;
    else
      last_->next = added;
    last_ = added;
    ++size_;
  }

  // Takes the first block out; precondition: not empty.
  [[nodiscard]] void* pop_front() noexcept {
    MALLARD_CHECK(!empty());
    node* taken = first_;
    first_ = taken->next;
    if (first_ == nullptr) last_ = nullptr;
    --size_;
    return taken;
  }

  // Moves all blocks of `other` behind the last one; `other` is empty afterwards.
  void splice_back(chain& other) noexcept {
    if (other.empty()) return;
    if (last_ == nullptr)
      first_ = other.first_;
    else
      last_->next = other.first_;
    last_ = other.last_;
    size_ += other.size_;
    other = chain{};
  }

 private:
  node* first_ = nullptr;
  node* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace mallard
