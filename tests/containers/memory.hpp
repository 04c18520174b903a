// Memory for containers, two ways from each heap of heaps.hpp:
//
//     typed<Heap>    mallard::allocator<T, watched<Heap>>           a type for every heap
//     pmr            polymorphic_allocator over resource<Heap>      one type: the heap is chosen at run time
//
// In both a book stands between container and heap, and a ledger under the heap: what is not given back
// is a failure of the test on both levels, and on both levels requests can be made to fail.
#pragma once

#include <functional>
#include <memory>
#include <memory_resource>
#include <new>

#include "containers/book.hpp"
#include "mallard/allocator/allocator.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/resource/resource.hpp"
#include "model/model.hpp"

namespace mallard::containers {

template <heap Heap>
class watched {
 public:
  [[nodiscard]] Heap& upstream() noexcept { return heap_; }
  [[nodiscard]] book& blocks() noexcept { return book_; }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align) noexcept {
    if (book_.fails()) return {};
    const block received = heap_.allocate(size, align);
    if (received) book_.enter(received, size, align);
    return received;
  }

  void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    if (book_.strike(p, size, align)) heap_.deallocate(p, size, align);
  }

 private:
  Heap heap_;
  book book_;
};

class watched_resource : public std::pmr::memory_resource {
 public:
  explicit watched_resource(std::pmr::memory_resource& upstream) : upstream_(upstream) {}

  [[nodiscard]] book& blocks() noexcept { return book_; }

 private:
  void* do_allocate(std::size_t size, std::size_t align) override {
    if (book_.fails()) throw std::bad_alloc();
    void* const p = upstream_.allocate(size, align);
    book_.enter({p, size}, size, align);
    return p;
  }
  void do_deallocate(void* p, std::size_t size, std::size_t align) override {
    if (book_.strike(p, size, align)) upstream_.deallocate(p, size, align);
  }
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
    return this == &other;
  }

  std::pmr::memory_resource& upstream_;
  book book_;
};

template <heap Heap>
class typed {
 public:
  static constexpr bool copies_stay = true;  // a copy-constructed container uses the heap of the original
  template <class T>
  using allocator = mallard::allocator<T, watched<Heap>>;

  [[nodiscard]] allocator<std::byte> get() noexcept { return heap_; }
  [[nodiscard]] book& blocks() noexcept { return heap_.blocks(); }
  void fail_source_from(std::size_t n) { model::source_of(heap_.upstream()).fail_from(n); }

 private:
  model::ledger books_;
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
      memory.fail_source_from_ = [&heap = chosen->heap()](std::size_t n) {
        model::source_of(heap).fail_from(n);
      };
      return chosen;
    };
  }

  [[nodiscard]] allocator<std::byte> get() noexcept { return &watched_; }
  [[nodiscard]] book& blocks() noexcept { return watched_.blocks(); }
  void fail_source_from(std::size_t n) { fail_source_from_(n); }

 private:
  static inline std::unique_ptr<std::pmr::memory_resource> (*make)(pmr&) = nullptr;

  model::ledger books_;
  std::function<void(std::size_t)> fail_source_from_;
  std::unique_ptr<std::pmr::memory_resource> resource_{make(*this)};
  watched_resource watched_{*resource_};
};

}  // namespace mallard::containers
