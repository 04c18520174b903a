// multiallocation_chain<T>: blocks for objects of type T, linked through their own first word.
//
//     before_begin --> [next|....] --> [next|....] --> [null|....] = last --> end
//
// v2_allocator passes bursts, i.e. batches of blocks in one call, in such chains. The members are those that
// the containers of Boost 1.74 to 1.81 use. The chain links raw blocks: an iterator names the block in which
// an object may be built, and must be advanced before the object overwrites the link. Destroying a chain does
// not free its blocks. A linked block has at least sizeof(void*) bytes and is aligned to alignof(void*),
// which v2_allocator ensures. No operation allocates; each is O(1). Not synchronised. Seed 001, "Burst
// allocation infrastructure".
#pragma once

#include <cstddef>
#include <iterator>
#include <utility>

#include "mallard/core/attributes.hpp"
#include "mallard/core/chain.hpp"

namespace mallard {

template <class T>
class multiallocation_chain {
 public:
  using value_type = T;
  using pointer = T*;
  using size_type = std::size_t;
  using pointer_pair = std::pair<T*, T*>;  // first and last block

  class iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = T*;
    using reference = T&;

    iterator() = default;

    // Boost also takes the address of the end.
    [[nodiscard]] MALLARD_MAY_BE_NULL T& operator*() const noexcept { return *operator->(); }
    [[nodiscard]] T* operator->() const noexcept { return static_cast<T*>(static_cast<void*>(place_)); }
    iterator& operator++() noexcept {
      place_ = place_->next;
      return *this;
    }
    iterator operator++(int) noexcept {
      iterator here = *this;
      ++*this;
      return here;
    }
    [[nodiscard]] friend bool operator==(const iterator&, const iterator&) = default;

   private:
    friend class multiallocation_chain;
    explicit iterator(chain::node* place) noexcept : place_(place) {}
    chain::node* place_ = nullptr;
  };

  multiallocation_chain() = default;
  multiallocation_chain(multiallocation_chain&& other) noexcept : blocks_(std::exchange(other.blocks_, {})) {}
  multiallocation_chain& operator=(multiallocation_chain&& other) noexcept {
    blocks_ = std::exchange(other.blocks_, {});
    return *this;
  }

  // The raw blocks, whatever will be built in them.
  [[nodiscard]] chain& blocks() noexcept { return blocks_; }

  [[nodiscard]] bool empty() const noexcept { return blocks_.empty(); }
  [[nodiscard]] size_type size() const noexcept { return blocks_.size(); }

  [[nodiscard]] iterator before_begin() noexcept { return iterator(blocks_.before_front()); }
  [[nodiscard]] iterator begin() noexcept { return at(blocks_.front()); }
  [[nodiscard]] iterator end() noexcept { return {}; }
  // The last block; before_begin() of an empty chain.
  [[nodiscard]] iterator last() noexcept { return empty() ? before_begin() : at(blocks_.back()); }

  void push_front(pointer p) noexcept { blocks_.push_front(p); }
  void push_back(pointer p) noexcept { blocks_.push_back(p); }

  // Takes the first block out; precondition: not empty.
  pointer pop_front() noexcept { return static_cast<pointer>(blocks_.pop_front()); }

  // Forgets all blocks, which stay linked.
  void clear() noexcept { blocks_ = {}; }

  // The first and last block, which stay linked; both null if the chain is empty. The chain is empty
  // afterwards.
  pointer_pair extract_data() noexcept {
    const pointer_pair ends(static_cast<pointer>(blocks_.front()), static_cast<pointer>(blocks_.back()));
    clear();
    return ends;
  }

  // Takes in the `count` blocks behind `place` that are linked from `first` to `last`; does nothing if it is
  // 0.
  void incorporate_after(iterator place, pointer first, pointer last, size_type count) noexcept {
    chain more(first, last, count);
    blocks_.splice_after(place.place_, more);
  }

  // Moves `count` blocks from `other` to behind `place`: those after `before_first`, up to `last`.
  void splice_after(iterator place, multiallocation_chain& other, iterator before_first, iterator last,
                    size_type count) noexcept {
    chain moved = other.blocks_.take_after(before_first.place_, last.place_, count);
    blocks_.splice_after(place.place_, moved);
  }

 private:
  [[nodiscard]] static iterator at(void* block) noexcept {
    return iterator(static_cast<chain::node*>(block));
  }

  chain blocks_;
};

}  // namespace mallard
