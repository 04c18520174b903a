// Memory for containers, two ways from each heap of heaps.hpp:
//
//     typed<Heap>    mallard::allocator<T, watched<Heap>>           a type for every heap, or v2_allocator
//     pmr            polymorphic_allocator over resource<Heap>      one type: the heap is chosen at run time
//
// typed<chosen_heap> is one type, too: what an allocator asks of its heap is the same of each, and a
// container is compiled once for all of them.
//
// In both a block_registry stands between container and heap, and a chunk_registry under the heap: what is
// not given back is a failure of the test on both levels, and on both levels requests can be made to fail.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <memory_resource>
#include <new>

#include "containers/block_registry.hpp"
#include "mallard/allocator/allocator.hpp"
#include "mallard/allocator/v2_allocator.hpp"
#include "mallard/core/chain.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/resize.hpp"
#include "mallard/layer/locked.hpp"
#include "mallard/resource/resource.hpp"
#include "model/model.hpp"

namespace mallard::containers {

// A heap that is chosen at run time.
class chosen_heap {
 public:
  // All of this kind, from now on, are of this heap.
  template <heap Heap>
  static void choose() {
    make = []() -> std::unique_ptr<any> { return std::make_unique<one<Heap>>(); };
  }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align) noexcept {
    return chosen_->allocate(size, align);
  }
  void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    chosen_->deallocate(p, size, align);
  }
  void fail_source_from(std::size_t n) { chosen_->fail_source_from(n); }

 private:
  struct any {
    virtual ~any() = default;
    virtual block allocate(std::size_t size, std::size_t align) noexcept = 0;
    virtual void deallocate(void* p, std::size_t size, std::size_t align) noexcept = 0;
    virtual void fail_source_from(std::size_t n) = 0;
  };

  template <heap Heap>
  struct one final : any {
    block allocate(std::size_t size, std::size_t align) noexcept override {
      return heap_.allocate(size, align);
    }
    void deallocate(void* p, std::size_t size, std::size_t align) noexcept override {
      heap_.deallocate(p, size, align);
    }
    void fail_source_from(std::size_t n) override { model::source_of(heap_).fail_from(n); }

    Heap heap_;
  };

  static inline std::unique_ptr<any> (*make)() = nullptr;

  const std::unique_ptr<any> chosen_{make()};
};

// The n-th request from now to the source of a heap fails, and all that follow.
template <heap Heap>
void fail_source(Heap& h, std::size_t n) {
  if constexpr (requires { h.fail_source_from(n); })
    h.fail_source_from(n);
  else
    model::source_of(h).fail_from(n);
}

template <heap Heap>
class watched {
 public:
  [[nodiscard]] Heap& upstream() noexcept { return heap_; }
  [[nodiscard]] block_registry& blocks() noexcept { return registry_; }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align) noexcept {
    if (registry_.fails()) return {};
    const block received = heap_.allocate(size, align);
    if (received) registry_.enter(received, size, align);
    return received;
  }

  void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    if (registry_.strike(p, size, align)) heap_.deallocate(p, size, align);
  }

  static constexpr resize_way ways = detail::ways_of<Heap>;

  // A request where it may be answered by a new block, as its failure then is an exception.
  [[nodiscard]] resize_result resize(const resize_request& request) noexcept
    requires resizable<Heap>
  {
    if (has_way(request.ways, resize_way::allocate_new) && registry_.fails()) return {};
    registry_.expect_live(request.data, request.size, request.align);
    const resize_result result = heap_.resize(request);
    const block& now = result.memory;
    if (!now) return result;
    const std::size_t requested = now.size >= request.preferred ? request.preferred : request.limit;
    if (result.reused)
      registry_.change(request.data, now, requested);
    else
      registry_.enter(now, requested, request.align);
    return result;
  }

  [[nodiscard]] std::size_t usable_size(const void* p) const noexcept
    requires measurable<Heap>
  {
    return heap_.usable_size(p);
  }

  [[nodiscard]] bool allocate_burst(chain& out, std::size_t count, std::size_t size, std::size_t align,
                                    std::size_t contiguous) noexcept
    requires burst<Heap>
  {
    chain taken;
    if (registry_.fails() || !heap_.allocate_burst(taken, count, size, align, contiguous)) return false;
    EXPECT_EQ(taken.size(), count);
    while (!taken.empty()) {
      void* const p = taken.pop_front();
      registry_.enter({p, size}, size, align);
      out.push_back(p);
    }
    return true;
  }

  void deallocate_burst(chain& blocks, std::size_t size, std::size_t align) noexcept
    requires burst<Heap>
  {
    chain ended;
    while (!blocks.empty())
      if (void* const p = blocks.pop_front(); registry_.strike(p, size, align)) ended.push_back(p);
    heap_.deallocate_burst(ended, size, align);
  }

  // Ends the blocks that nobody will; how many there were.
  int end_what_is_lost() {
    return registry_.for_each(
        [this](void* p, std::size_t size, std::size_t align) { deallocate(p, size, align); });
  }

 private:
  Heap heap_;
  block_registry registry_;
};

class watched_resource : public std::pmr::memory_resource {
 public:
  explicit watched_resource(std::pmr::memory_resource& upstream) : upstream_(upstream) {}

  [[nodiscard]] block_registry& blocks() noexcept { return registry_; }

 private:
  void* do_allocate(std::size_t size, std::size_t align) override {
    if (registry_.fails()) throw std::bad_alloc();
    void* const p = upstream_.allocate(size, align);
    registry_.enter({p, size}, size, align);
    return p;
  }
  void do_deallocate(void* p, std::size_t size, std::size_t align) override {
    if (registry_.strike(p, size, align)) upstream_.deallocate(p, size, align);
  }
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
    return this == &other;
  }

  std::pmr::memory_resource& upstream_;
  block_registry registry_;
};

// The library's allocators.
struct plain_allocator {
  template <class T, class Heap>
  using of = mallard::allocator<T, Heap>;
};
template <allocation_type Disabled = 0>
struct second_version {
  template <class T, class Heap>
  using of = v2_allocator<T, Heap, Disabled>;
};

template <heap Heap, class Allocator = plain_allocator>
class typed {
 public:
  static constexpr bool copies_stay = true;  // a copy-constructed container uses the heap of the original
  template <class T>
  using allocator = typename Allocator::template of<T, watched<Heap>>;

  [[nodiscard]] allocator<std::byte> get() noexcept { return heap_; }
  [[nodiscard]] block_registry& blocks() noexcept { return heap_.blocks(); }
  void fail_source_from(std::size_t n) { fail_source(heap_.upstream(), n); }
  int end_what_is_lost() { return heap_.end_what_is_lost(); }

 private:
  model::chunk_registry registry_;
  watched<Heap> heap_;
};

class pmr {
 public:
  static constexpr bool copies_stay = false;  // but use the default resource
  template <class T>
  using allocator = std::pmr::polymorphic_allocator<T>;

  // All memory of this kind, from now on, is of this heap.
  template <heap Heap>
  static void choose() {
    make = [](pmr& memory) -> std::unique_ptr<std::pmr::memory_resource> {
      auto chosen = std::make_unique<resource<Heap>>();
      memory.fail_source_from_ = [&heap = chosen->heap()](std::size_t n) { fail_source(heap, n); };
      return chosen;
    };
  }

  [[nodiscard]] allocator<std::byte> get() noexcept { return &watched_; }
  [[nodiscard]] block_registry& blocks() noexcept { return watched_.blocks(); }
  void fail_source_from(std::size_t n) { fail_source_from_(n); }

 private:
  static inline std::unique_ptr<std::pmr::memory_resource> (*make)(pmr&) = nullptr;

  model::chunk_registry registry_;
  std::function<void(std::size_t)> fail_source_from_;
  std::unique_ptr<std::pmr::memory_resource> resource_{make(*this)};
  watched_resource watched_{*resource_};
};

}  // namespace mallard::containers
