// global_way: the process's malloc through operator new, as std::allocator has it (AS1).
//
// A way is a class whose `life` is a new heap that ends with it; `allocator<T>` is what containers take, and
// allocate and deallocate are for single blocks. One way, one object a worker.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <scoped_allocator>

namespace mallard::bench {

struct global_way {
  template <class T>
  using allocator = std::allocator<T>;
  template <class T>
  using container_allocator = std::scoped_allocator_adaptor<allocator<T>>;

  class life {
   public:
    explicit life(global_way&) {}

    template <class T>
    [[nodiscard]] container_allocator<T> allocator_of() const {
      return {};
    }
    [[nodiscard]] void* allocate(std::size_t size, std::size_t) const { return ::operator new(size); }
    void deallocate(void* p, std::size_t size, std::size_t) const { ::operator delete(p, size); }
  };
};

}  // namespace mallard::bench
