// one_place: a heap of one block, as large as anything gets: what vectors cost by themselves.
//
//     allocate --> [ the whole memory ]      resize --> as was asked      deallocate --> nothing
//
// A vector over it never moves and never asks twice, so that what is left is the building of elements and the
// vector's own checks: the floor that is taken off all other contestants. Precondition: one block at a time,
// no larger than the memory. No operation looks at anything.
#pragma once

#include <cstddef>

#include "harness/mapping.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/resize.hpp"

namespace mallard::bench {

class one_place {
 public:
  explicit one_place(std::size_t bytes) : memory_(bytes, harness::fill::before_use) {}

  [[nodiscard]] block allocate(std::size_t, std::size_t) noexcept { return {memory_.data(), memory_.size()}; }
  void deallocate(void*, std::size_t, std::size_t) noexcept {}

  [[nodiscard]] std::size_t usable_size(const void*) const noexcept { return memory_.size(); }

  static constexpr resize_way ways = resize_way::expand_forward | resize_way::shrink | resize_way::try_shrink;

  [[nodiscard]] resize_result resize(const resize_request& request) noexcept {
    return {{request.data, request.preferred}, true};
  }

 private:
  harness::scratch memory_;
};

}  // namespace mallard::bench
