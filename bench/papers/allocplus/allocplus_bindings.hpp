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
#include <string>
#include <vector>

#include "common/measured_allocator.hpp"
#include "common/page.hpp"
#include "harness/foreign_malloc.hpp"
#include "mallard/allocator/allocator.hpp"
#include "mallard/allocator/resize_objects.hpp"
#include "mallard/allocator/v2_allocator.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/heap/best_fit.hpp"
#include "mallard/layer/locked.hpp"

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

// columns: what the lists of allocators of the three benchmarks are made of.
//
//     boost.V1 none Std V1 | boost.V2... V2... | locked.V1 locked.V2 | Std over other mallocs
//
// Boost's V1 is the first: it is what the seed compares with, and A/A. `none` is the floor. `Benchmark` is a
// class of nothing but static members:
//
//     static std::size_t live_bytes(const page&);          that the work has alive at most
//     template <class Binding> static void measure(Binding&, page&);

using locked_best_fit = locked<best_fit>;

template <class Benchmark, class Binding>
void run_in(page& p) {
  Binding binding(Benchmark::live_bytes(p));
  Benchmark::measure(binding, p);
  p.state = harness::work_state::done;
}

template <class Benchmark, class Binding>
void add_allocator(std::vector<measured_allocator>& list, const char* label, const char* strategy) {
  list.push_back({label, strategy, binding::typed, destruction::normal, run_in<Benchmark, Binding>});
}

template <class Benchmark>
void add_std(std::vector<measured_allocator>& list, const harness::foreign_malloc& m,
             const char* label = "") {
  list.push_back(
      {label, std::string(m.name), binding::malloc, destruction::normal, run_in<Benchmark, std_binding>, &m});
}

template <class Benchmark, class Floor>
void add_plain(std::vector<measured_allocator>& list) {
  add_allocator<Benchmark, boost_binding<1>>(list, "boost.V1", "boost");
  add_allocator<Benchmark, v2_binding<Floor>>(list, "none", floor_strategy);
  add_std<Benchmark>(list, *harness::find_foreign_malloc("glibc"), "Std");
  add_allocator<Benchmark, v1_binding<best_fit>>(list, "V1", "best_fit");
}

// A version-2 allocator of Boost's and ours, with the same commands disabled; labels are theirs and ours.
template <class Benchmark, allocation_type Disabled = 0>
void add_version_2(std::vector<measured_allocator>& list, const char* theirs, const char* ours) {
  add_allocator<Benchmark, boost_binding<2, Disabled>>(list, theirs, "boost");
  add_allocator<Benchmark, v2_binding<best_fit, Disabled>>(list, ours, "best_fit");
}

// Boost's heap is for all threads of a process, and locks; so do these.
template <class Benchmark>
void add_locked(std::vector<measured_allocator>& list) {
  add_allocator<Benchmark, v1_binding<locked_best_fit>>(list, "locked.V1", "locked best_fit");
  add_allocator<Benchmark, v2_binding<locked_best_fit>>(list, "locked.V2", "locked best_fit");
}

template <class Benchmark>
void add_other_mallocs(std::vector<measured_allocator>& list) {
  for (const harness::foreign_malloc& m : harness::foreign_mallocs().subspan(1)) add_std<Benchmark>(list, m);
}

}  // namespace mallard::bench
