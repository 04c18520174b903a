// returned_lists<Lists, Counted>: returned_batches for each size of a heap.
//
//     list 0   batch -> batch
//     list 1   -                             together: 5 batches, where they are counted
//     list 2   batch -> batch -> batch
//
// As many threads as returned_batches allows: any may push, one at a time pops. The count is told by nobody
// who waits for it: it is right when nobody pushes or pops, and near it else. Cost: an atomic addition a
// batch, where counted.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <type_traits>

#include "mallard/layer/returned_batches.hpp"

namespace mallard {

template <std::size_t Lists, bool Counted>
class returned_lists {
 public:
  // Precondition: not empty. Any thread.
  void push(std::size_t list, batch given) noexcept {
    lists_[list].push(given);
    if constexpr (Counted) count_.fetch_add(1, std::memory_order_relaxed);
  }

  // The batch of a list that was pushed last; empty when there is none. One thread at a time.
  [[nodiscard]] batch pop(std::size_t list) noexcept { return taken(lists_[list].pop()); }

  // As pop, where that is a batch of one; else empty.
  [[nodiscard]] batch pop_single(std::size_t list) noexcept { return taken(lists_[list].pop_single()); }

  // Batches in all lists.
  [[nodiscard]] std::ptrdiff_t count() const noexcept
    requires Counted
  {
    return count_.load(std::memory_order_relaxed);
  }

  // Forgets all batches; nobody pushes.
  void clear() noexcept {
    for (returned_batches& batches : lists_) batches.clear();
    if constexpr (Counted) count_.store(0, std::memory_order_relaxed);
  }

  // Calls `f` with each batch of a list, until one returns false; nobody pops.
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
