// allocator<T, Heap>: any heap for standard containers, bound at compile time.
//
//     std::vector<T, allocator<T, Heap>> --inline--> Heap& --null?--> std::bad_alloc
//
// One pointer to a heap that outlives the container; size and alignment are constants for nodes, so
// a pair costs a handful of instructions, and nothing at all where deallocate is empty. Equality, and with
// which heap a container stays, are heap_handle's.
// Seed 000, section 4 (AS3, AS7 and their kin).
#pragma once

#include <cstddef>
#include <new>

#include "mallard/allocator/allocation_result.hpp"
#include "mallard/allocator/heap_handle.hpp"
#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/concepts.hpp"

namespace mallard {

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

  template <class U>
  allocator(const allocator<U, Heap>& other) noexcept  // NOLINT(google-explicit-constructor)
      : heap_handle<Heap>(other) {}

  [[nodiscard]] static constexpr std::size_t max_size() noexcept { return max_request / object_size; }

  [[nodiscard]] MALLARD_INLINE T* allocate(std::size_t count) { return static_cast<T*>(obtain(count).data); }

  [[nodiscard]] MALLARD_INLINE allocation_result<T*> allocate_at_least(std::size_t count) {
    const block received = obtain(count);
    return {static_cast<T*>(received.data), received.size / object_size};
  }

  // `count` is any number between the one asked for and the one received.
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
