// allocator<T, Heap>: any heap for standard containers, bound at compile time.
//
//     std::vector<T, allocator<T, Heap>> --inline--> Heap& --null?--> std::bad_alloc
//
// One pointer to a heap that outlives the container; size and alignment are constants for nodes, so
// a pair costs a handful of instructions, and nothing at all where deallocate is empty. Equal if
// the heap is the same. A container stays with its heap for life: the allocator does not propagate
// on copy assignment, move assignment or swap (moves between heaps go element by element, swapping
// them is undefined, as with std::pmr); a copy-constructed container uses the heap of the original.
// Seed 000, section 4 (AS3, AS7 and their kin).
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/concepts.hpp"

namespace mallard {

#if defined(__cpp_lib_allocate_at_least)
template <class Pointer>
using allocation_result = std::allocation_result<Pointer, std::size_t>;
#else
// What allocate_at_least gives: `count` objects fit behind `ptr`.
template <class Pointer>
struct allocation_result {
  Pointer ptr;
  std::size_t count;
};
#endif

template <class T, heap Heap>
class allocator {
 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using propagate_on_container_copy_assignment = std::false_type;
  using propagate_on_container_move_assignment = std::false_type;
  using propagate_on_container_swap = std::false_type;
  using is_always_equal = std::false_type;

  template <class U>
  struct rebind {
    using other = allocator<U, Heap>;
  };

  // Implicit, so that a container takes the heap itself.
  allocator(Heap& heap) noexcept : heap_(&heap) {}  // NOLINT(google-explicit-constructor)

  template <class U>
  allocator(const allocator<U, Heap>& other) noexcept  // NOLINT(google-explicit-constructor)
      : heap_(&other.heap()) {}

  [[nodiscard]] Heap& heap() const noexcept { return *heap_; }

  [[nodiscard]] static constexpr std::size_t max_size() noexcept { return max_request / object_size; }

  [[nodiscard]] MALLARD_INLINE T* allocate(std::size_t count) { return static_cast<T*>(obtain(count).data); }

  [[nodiscard]] MALLARD_INLINE allocation_result<T*> allocate_at_least(std::size_t count) {
    const block received = obtain(count);
    return {static_cast<T*>(received.data), received.size / object_size};
  }

  // `count` is any number between the one asked for and the one received.
  MALLARD_INLINE void deallocate(T* p, std::size_t count) noexcept {
    heap_->deallocate(static_cast<void*>(p), count * object_size, alignof(T));
  }

  template <class U>
  [[nodiscard]] friend bool operator==(const allocator& a, const allocator<U, Heap>& b) noexcept {
    return &a.heap() == &b.heap();
  }

 private:
  static constexpr std::size_t object_size = sizeof(T);  // NOLINT(bugprone-sizeof-expression): also pointers

  MALLARD_INLINE block obtain(std::size_t count) {
    if (count > max_size()) [[unlikely]]
      throw std::bad_array_new_length();
    const block received = heap_->allocate(count * object_size, alignof(T));
    if (!received) [[unlikely]]
      throw std::bad_alloc();
    return received;
  }

  Heap* heap_;
};

}  // namespace mallard
