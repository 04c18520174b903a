// heap_handle<Heap>: what allocators of any value type have in common: which heap it is.
//
//     container --> allocator: heap_handle --pointer--> Heap, which outlives them
//
// Equal if the heap is the same. A container stays with its heap for life: the handle does not propagate on
// copy assignment, move assignment or swap (moves between heaps go element by element, swapping them is
// undefined, as with std::pmr); a copy-constructed container uses the heap of the original. One pointer; any
// thread may copy it.
#pragma once

#include <cstddef>
#include <type_traits>

#include "mallard/core/concepts.hpp"

namespace mallard {

template <heap Heap>
class heap_handle {
 public:
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using propagate_on_container_copy_assignment = std::false_type;
  using propagate_on_container_move_assignment = std::false_type;
  using propagate_on_container_swap = std::false_type;
  using is_always_equal = std::false_type;

  explicit heap_handle(Heap& heap) noexcept : heap_(&heap) {}

  [[nodiscard]] Heap& heap() const noexcept { return *heap_; }

  [[nodiscard]] friend bool operator==(const heap_handle& a, const heap_handle& b) noexcept {
    return a.heap_ == b.heap_;
  }

 private:
  Heap* heap_;
};

}  // namespace mallard
