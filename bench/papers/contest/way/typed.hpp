// typed_way<Heap>: a heap of ours, known to the compiler (AS3, AS4, AS7, AS8, AS11, AS12).
#pragma once

#include <cstddef>
#include <new>
#include <scoped_allocator>

#include "mallard/allocator/allocator.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/concepts.hpp"

namespace mallard::bench {

template <heap Heap>
struct typed_way {
  template <class T>
  using allocator = mallard::allocator<T, Heap>;
  template <class T>
  using container_allocator = std::scoped_allocator_adaptor<allocator<T>>;

  class life {
   public:
    explicit life(typed_way&) {}

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

}  // namespace mallard::bench
