// The ways to a block of 48 bytes: each allocator has allocate() and deallocate(p), inlined into the loop.
//
//     typed<Heap>              allocator<item, Heap>: size and alignment are constants
//     sized<Heap>              the heap itself, size known at run time only
//     aligned<Heap>            the heap itself, alignment known at run time only
//     sized_and_aligned<Heap>  the heap itself, both known at run time only
//     virtually<Resource>      a memory_resource, through its virtual functions
//     c_library<N>             malloc and free, of N bytes
//     in_c                     a heap through mallard.h, as a program in C has it: calls into other code
//
// `none` stands in for a heap: it hands out one place, so that a way over it costs what the loop and the
// making of a request cost. What only grows has restart(), which ends all blocks and keeps memory for
// as many anew.
#pragma once

#include <array>
#include <boost/container/pmr/memory_resource.hpp>
#include <cstddef>
#include <cstdlib>
#include <memory_resource>
#include <utility>

#include "counted.hpp"
#include "mallard.h"
#include "mallard/allocator/allocator.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/concepts.hpp"

namespace instructions {

struct item {
  void* words[6];
};
inline constexpr std::size_t item_size = sizeof(item);
inline constexpr std::size_t item_align = alignof(item);
static_assert(item_size == 48);

// How many blocks live where one operation is to cost the same however many there are.
inline constexpr std::array<std::size_t, 5> many_live = {1 << 8, 1 << 10, 1 << 12, 1 << 14, 1 << 16};

class none {
 public:
  [[gnu::always_inline]] mallard::block allocate(std::size_t, std::size_t) noexcept {
    return {&place_, item_size};
  }
  [[gnu::always_inline]] void deallocate(void*, std::size_t, std::size_t) noexcept {}

 private:
  item place_{};
};

template <class Heap>
class over_heap {
 public:
  void restart()
    requires mallard::rewindable<Heap>
  {
    heap_.clear();
  }

  // Ends all blocks and keeps chunks for others.
  void clear()
    requires mallard::clearable<Heap>
  {
    heap_.clear();
  }

 protected:
  Heap heap_;
};

template <class Heap>
class typed : public over_heap<Heap> {
 public:
  [[gnu::always_inline]] void* allocate() { return items().allocate(1); }
  [[gnu::always_inline]] void deallocate(void* p) { items().deallocate(static_cast<item*>(p), 1); }

 private:
  [[gnu::always_inline]] mallard::allocator<item, Heap> items() { return {this->heap_}; }
};

template <class Heap>
class sized : public over_heap<Heap> {
 public:
  [[gnu::always_inline]] void* allocate() { return this->heap_.allocate(hidden(item_size), item_align).data; }
  [[gnu::always_inline]] void deallocate(void* p) {
    this->heap_.deallocate(p, hidden(item_size), item_align);
  }
};

template <class Heap>
class aligned : public over_heap<Heap> {
 public:
  [[gnu::always_inline]] void* allocate() { return this->heap_.allocate(item_size, hidden(item_align)).data; }
  [[gnu::always_inline]] void deallocate(void* p) {
    this->heap_.deallocate(p, item_size, hidden(item_align));
  }
};

template <class Heap>
class sized_and_aligned : public over_heap<Heap> {
 public:
  [[gnu::always_inline]] void* allocate() {
    return this->heap_.allocate(hidden(item_size), hidden(item_align)).data;
  }
  [[gnu::always_inline]] void deallocate(void* p) {
    this->heap_.deallocate(p, hidden(item_size), hidden(item_align));
  }
};

inline std::pmr::memory_resource* as_base(std::pmr::memory_resource& r) { return &r; }
inline boost::container::pmr::memory_resource* as_base(boost::container::pmr::memory_resource& r) {
  return &r;
}

template <class Resource>
class virtually {
 public:
  template <class... Args>
  explicit virtually(Args&&... args) : resource_(std::forward<Args>(args)...) {}

  [[gnu::always_inline]] void* allocate() {
    return hidden(as_base(resource_))->allocate(item_size, item_align);
  }
  [[gnu::always_inline]] void deallocate(void* p) {
    hidden(as_base(resource_))->deallocate(p, item_size, item_align);
  }

  void restart()
    requires requires(Resource& r) { r.heap().mark(); }
  {
    resource_.heap().clear();
  }

 protected:
  Resource resource_;
};

template <std::size_t Size>
class c_library {
 public:
  [[gnu::always_inline]] void* allocate() { return std::malloc(Size); }
  [[gnu::always_inline]] void deallocate(void* p) { std::free(p); }
};

class in_c {
 public:
  in_c(unsigned kind, unsigned flags) {
    mallard_heap_options options = MALLARD_HEAP_OPTIONS;
    options.kind = kind;
    options.flags = flags;
    if (mallard_heap_create(&heap_, &options) != MALLARD_OK) std::abort();
  }
  in_c(const in_c&) = delete;
  in_c& operator=(const in_c&) = delete;
  ~in_c() { mallard_heap_destroy(heap_); }

  [[gnu::always_inline]] void* allocate() { return mallard_heap_allocate(heap_, item_size); }
  [[gnu::always_inline]] void deallocate(void* p) { mallard_heap_free(heap_, p); }
  void clear() { mallard_heap_clear(heap_); }

 private:
  mallard_heap* heap_ = nullptr;
};

}  // namespace instructions
