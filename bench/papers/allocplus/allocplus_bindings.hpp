// allocplus_bindings: the allocators that seed 001 compares, each with the heap behind it. One object a
// worker.
//
//     std_binding                 std::allocator over the process's malloc                   "StdAllocator"
//     boost_binding<1>            Boost.Container's allocator, plain, over its dlmalloc   "AllocatorPlusV1"
//     boost_binding<2, Disabled>  the same with the version-2 protocol, less Disabled     "AllocatorPlusV2"
//     v1_binding<Heap>            allocator<T, Heap>
//     v2_binding<Heap, Disabled>  v2_allocator<T, Heap, Disabled>
//
// A binding is made with the bytes that the work has alive at most, which only floors look at. Seed 001, "A
// configurable allocator for testing".
#pragma once

#include <boost/container/allocator.hpp>
#include <concepts>
#include <cstddef>
#include <memory>

#include "mallard/allocator/allocator.hpp"
#include "mallard/allocator/resize_objects.hpp"
#include "mallard/allocator/v2_allocator.hpp"
#include "mallard/core/concepts.hpp"

namespace mallard::bench {

class std_binding {
 public:
  static constexpr unsigned version = 1;
  template <class T>
  using allocator = std::allocator<T>;

  explicit std_binding(std::size_t) {}

  template <class T>
  [[nodiscard]] allocator<T> allocator_of() const {
    return {};
  }
};

template <unsigned Version, allocation_type Disabled = 0>
class boost_binding {
 public:
  static constexpr unsigned version = Version;
  template <class T>
  using allocator = boost::container::allocator<T, Version, Disabled>;

  explicit boost_binding(std::size_t) {}

  template <class T>
  [[nodiscard]] allocator<T> allocator_of() const {
    return {};
  }
};

// A heap that lives as long as its worker, as those of the process do.
template <heap Heap>
class binding_of_heap {
 public:
  explicit binding_of_heap(std::size_t)
    requires std::default_initializable<Heap>
  {}
  explicit binding_of_heap(std::size_t bytes)
    requires(!std::default_initializable<Heap>)
      : heap_(bytes) {}

  [[nodiscard]] Heap& heap() { return heap_; }

 private:
  Heap heap_;
};

template <heap Heap>
class v1_binding : public binding_of_heap<Heap> {
 public:
  static constexpr unsigned version = 1;
  template <class T>
  using allocator = mallard::allocator<T, Heap>;

  using binding_of_heap<Heap>::binding_of_heap;

  template <class T>
  [[nodiscard]] allocator<T> allocator_of() {
    return this->heap();
  }
};

template <heap Heap, allocation_type Disabled = 0>
class v2_binding : public binding_of_heap<Heap> {
 public:
  static constexpr unsigned version = 2;
  template <class T>
  using allocator = mallard::v2_allocator<T, Heap, Disabled>;

  using binding_of_heap<Heap>::binding_of_heap;

  template <class T>
  [[nodiscard]] allocator<T> allocator_of() {
    return this->heap();
  }
};

}  // namespace mallard::bench
