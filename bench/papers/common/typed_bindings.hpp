// The typed bindings of a strategy: global_binding, the process's malloc through operator new, as
// std::allocator has it (AS1); typed_binding<Heap>, a heap of ours that the compiler knows (AS3, AS4, AS7,
// AS8, AS11, AS12).
//
// A binding is a class whose `life` is a new heap that ends with it; `allocator<T>` is what containers take,
// and allocate and deallocate are for single blocks. One object a worker.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <scoped_allocator>

#include "mallard/allocator/allocator.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/concepts.hpp"

namespace mallard::bench {

struct global_binding {
  template <class T>
  using allocator = std::allocator<T>;
  template <class T>
  using container_allocator = std::scoped_allocator_adaptor<allocator<T>>;

  class life {
   public:
    explicit life(global_binding&) {}

    template <class T>
    [[nodiscard]] container_allocator<T> allocator_of() const {
      return {};
    }
    [[nodiscard]] void* allocate(std::size_t size, std::size_t) const { return ::operator new(size); }
    void deallocate(void* p, std::size_t size, std::size_t) const { ::operator delete(p, size); }
  };
};

template <heap Heap>
struct typed_binding {
  template <class T>
  using allocator = mallard::allocator<T, Heap>;
  template <class T>
  using container_allocator = std::scoped_allocator_adaptor<allocator<T>>;

  class life {
   public:
    explicit life(typed_binding&) {}

    template <class T>
    [[nodiscard]] container_allocator<T> allocator_of() {
      return container_allocator<T>(allocator<T>(heap_));
    }
    [[nodiscard]] void* allocate(std::size_t size, std::size_t align) {
      const block received = heap_.allocate(size, align);
      if (!received) throw std::bad_alloc();
      return received.data;
    }
    void deallocate(void* p, std::size_t size, std::size_t align) { heap_.deallocate(p, size, align); }

   private:
    Heap heap_;
  };
};

// Increments the first byte of a block, as the paper does after each allocation. One instruction that reads
// and writes, so that a fresh page faults once; no compiler takes it away.
inline void touch(void* block) noexcept {
  ++*static_cast<unsigned char*>(block);
  asm volatile("" : : "r"(block) : "memory");
}

// A free and the allocation after it are two calls, in a program at two places: here a compiler that sees
// both would leave out the block's way through the heap, or keep the heap's state in registers.
inline void part_calls() noexcept { asm volatile("" : : : "memory"); }

}  // namespace mallard::bench
