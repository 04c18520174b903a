// allocator<T, Heap>: any heap for standard containers, bound at compile time.
//
//     std::vector<T, allocator<T, Heap>> --inline--> Heap& --null?--> std::bad_alloc
//
// Holds one pointer to a heap that outlives the container. The size and alignment of a node are constants, so
// a pair costs a handful of instructions, and nothing where deallocate is empty. heap_handle defines equality
// and propagation.
// Seed 000, section 4 (AS3, AS7 and their kin).
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/concepts.hpp"

namespace mallard {

// The result of allocate_at_least: C++23's own type where the library has it.
#if defined(__cpp_lib_allocate_at_least)
template <class Pointer>
using allocation_result = std::allocation_result<Pointer, std::size_t>;
#else
// `count` objects fit behind `ptr`.
template <class Pointer>
struct allocation_result {
  Pointer ptr;
  std::size_t count;
};
#endif

// heap_handle<Heap>: the part of an allocator that does not depend on the value type.
//
//     container --> allocator: heap_handle --pointer--> Heap, which outlives them
//
// Handles are equal if they name the same heap. A container keeps its heap for life: the handle does not
// propagate on copy assignment, move assignment or swap (a move between heaps moves the elements; swapping
// containers of different heaps is undefined, as with std::pmr), and a copy-constructed container uses the
// heap of the original. One pointer; any thread may copy it.
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

template <class T, heap Heap>
class allocator : public heap_handle<Heap> {
 public:
  using value_type = T;

  template <class U>
  struct rebind {
    using other = allocator<U, Heap>;
  };

  // Implicit, so that a container takes the heap itself.
  allocator(Heap& heap) noexcept : heap_handle<Heap>(heap) {}  // NOLINT(google-explicit-constructor)

  // Deleted so that the compiler's message is clear where a container is given no heap, or another one.
  allocator() = delete;  // no heap: pass one to the container's constructor
  template <class Other>
    requires(heap<Other> && !std::convertible_to<Other&, Heap&>)
  allocator(Other&) = delete;  // another heap: the allocator's second template argument must be its type

  template <class U>
  allocator(const allocator<U, Heap>& other) noexcept  // NOLINT(google-explicit-constructor)
      : heap_handle<Heap>(other) {}

  [[nodiscard]] static constexpr std::size_t max_size() noexcept { return max_request / object_size; }

  [[nodiscard]] MALLARD_INLINE T* allocate(std::size_t count) { return static_cast<T*>(obtain(count).data); }

  [[nodiscard]] MALLARD_INLINE allocation_result<T*> allocate_at_least(std::size_t count) {
    const block received = obtain(count);
    return {static_cast<T*>(received.data), received.size / object_size};
  }

  // `count` may be any number from the requested to the received one.
  MALLARD_INLINE void deallocate(T* p, std::size_t count) noexcept {
    this->heap().deallocate(static_cast<void*>(p), count * object_size, alignof(T));
  }

 private:
  static constexpr std::size_t object_size = sizeof(T);  // NOLINT(bugprone-sizeof-expression): also pointers

  MALLARD_INLINE block obtain(std::size_t count) {
    if (count > max_size()) [[unlikely]]
      throw std::bad_array_new_length();
    const block received = this->heap().allocate(count * object_size, alignof(T));
    if (!received) [[unlikely]]
      throw std::bad_alloc();
    return received;
  }
};

}  // namespace mallard
