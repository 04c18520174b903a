// mallard_heap: what is behind a handle of mallard.h, whatever heap it is and wherever it lies.
//
//     mallard.h --checks what C cannot say--> mallard_heap (virtual) --> heap_of<Heap> --> the heap itself
//
// The functions of heap.cpp and blocks.cpp bring arguments into the form that heaps of the library take, so
// that here all of the library's preconditions hold. Cost: an indirect call.
#pragma once

#include <cstddef>

#include "mallard.h"
#include "mallard/allocator/resize_objects.hpp"
#include "mallard/core/chain.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/resize.hpp"
#include "mallard/core/usage.hpp"

struct mallard_heap {
  mallard_heap() = default;
  mallard_heap(const mallard_heap&) = delete;
  mallard_heap& operator=(const mallard_heap&) = delete;

  [[nodiscard]] virtual void* allocate(std::size_t size, std::size_t align) noexcept = 0;
  virtual void deallocate(void* p) noexcept = 0;
  [[nodiscard]] virtual void* reallocate(void* p, std::size_t size) noexcept = 0;
  [[nodiscard]] virtual std::size_t usable_size(const void* p) const noexcept = 0;
  [[nodiscard]] virtual mallard::resize_result resize(mallard::allocation_type command, std::size_t limit,
                                                      std::size_t preferred, void* reuse,
                                                      const mallard::object_layout& objects) noexcept = 0;

  [[nodiscard]] virtual bool allocate_burst(mallard::chain& out, std::size_t count, std::size_t size,
                                            std::size_t align, std::size_t contiguous) noexcept = 0;
  [[nodiscard]] virtual bool allocate_burst(mallard::chain& out, const std::size_t* lengths,
                                            std::size_t count, std::size_t unit, std::size_t align,
                                            std::size_t contiguous) noexcept = 0;
  virtual void deallocate_burst(mallard::chain& blocks) noexcept = 0;

  // MALLARD_INVALID_ARGUMENT if it cannot have children.
  [[nodiscard]] virtual mallard_status make_child(mallard_heap*& made, mallard::nesting how) noexcept = 0;

  // The calling thread becomes the owner, of a heap that has one.
  virtual void adopt() noexcept = 0;

  virtual void clear() noexcept = 0;
  virtual std::size_t trim(std::size_t keep) noexcept = 0;
  [[nodiscard]] virtual mallard::heap_usage usage() const noexcept = 0;
  [[nodiscard]] virtual mallard::violation validate() const noexcept = 0;

  // Ends the heap, and returns the memory in which it lies.
  virtual void destroy() noexcept = 0;

 protected:
  ~mallard_heap() = default;
};
