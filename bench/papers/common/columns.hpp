// columns: what the lists of allocators of all benchmarks are made of.
//
//     add_papers              AS1 AS2 | AS3-AS6 | AS7-AS10 | AS11-AS14
//     add_mallocs             glibc-notrim jemalloc tcmalloc mimalloc tbbmalloc, under AS1
//     add_unsynchronised      std.monotonic std.pool boost.monotonic boost.pool, through std::pmr
//     add_synchronised        std.sync_pool boost.sync_pool synchronized_multipool, through std::pmr
//     add_own                 what else the library has that serves any size, through std::pmr
//
// `Benchmark` is a class of nothing but static members: what it measures, and whether it winks out.
//
//     static constexpr bool winks_out;
//     template <class Binding> static void typed(destruction, page&);   a binding that is made of nothing
//     template <class Maker> static void pmr(destruction, page&);       pmr_binding over such a maker
#pragma once

#include <algorithm>
#include <array>
#include <boost/container/pmr/memory_resource.hpp>
#include <concepts>
#include <cstddef>
#include <memory_resource>
#include <string>
#include <vector>

#include "common/measured_allocator.hpp"
#include "common/pmr_bindings.hpp"
#include "common/typed_bindings.hpp"
#include "harness/allocator/foreign_resources.hpp"
#include "harness/allocator/own_heaps.hpp"
#include "harness/foreign_malloc.hpp"
#include "mallard/resource/resource.hpp"

namespace mallard::bench {

namespace detail {

template <class Benchmark, class Binding, destruction End>
void run_typed(page& p) {
  Benchmark::template typed<Binding>(End, p);
}

template <class Benchmark, class Maker, destruction End>
void run_pmr(page& p) {
  Benchmark::template pmr<Maker>(End, p);
}

}  // namespace detail

template <class Benchmark>
void add_malloc(std::vector<measured_allocator>& list, const harness::foreign_malloc& m,
                const char* label = "") {
  list.push_back({label, std::string(m.name), binding::malloc, destruction::normal,
                  detail::run_typed<Benchmark, global_binding, destruction::normal>, &m});
}

// A heap of ours, known to the compiler.
template <class Benchmark, class Binding>
void add_typed(std::vector<measured_allocator>& list, const char* strategy, const char* normal = "",
               const char* winkout = "") {
  list.push_back({normal, strategy, binding::typed, destruction::normal,
                  detail::run_typed<Benchmark, Binding, destruction::normal>});
  if constexpr (Benchmark::winks_out)
    list.push_back({winkout, strategy, binding::typed, destruction::winkout,
                    detail::run_typed<Benchmark, Binding, destruction::winkout>});
}

template <class Benchmark, class Resource>
void add_pmr(std::vector<measured_allocator>& list, const char* strategy, const char* normal = "",
             const char* winkout = "", const harness::foreign_malloc* beneath = nullptr) {
  using maker = maker_of<Resource>;
  list.push_back({normal, strategy, binding::pmr, destruction::normal,
                  detail::run_pmr<Benchmark, maker, destruction::normal>, beneath});
  if constexpr (Benchmark::winks_out)
    list.push_back({winkout, strategy, binding::pmr, destruction::winkout,
                    detail::run_pmr<Benchmark, maker, destruction::winkout>, beneath});
}

// A resource of Boost's as a std::pmr one, without a second virtual call: R's own function is called by its
// name.
template <std::derived_from<boost::container::pmr::memory_resource> R>
class boost_resource final : public std::pmr::memory_resource {
  struct open : R {
    using R::do_allocate;
    using R::do_deallocate;
  };

  void* do_allocate(std::size_t size, std::size_t align) override {
    return inner_.open::do_allocate(size, align);
  }
  void do_deallocate(void* p, std::size_t size, std::size_t align) override {
    inner_.open::do_deallocate(p, size, align);
  }
  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  open inner_;
};

// Another's resource; Boost's as a std::pmr one.
template <class Benchmark, class Resource>
void add_foreign_pmr(std::vector<measured_allocator>& list, harness::foreign_resource<Resource> line) {
  if constexpr (std::derived_from<Resource, std::pmr::memory_resource>)
    add_pmr<Benchmark, Resource>(list, line.name, "", "", harness::untrimmed_malloc());
  else
    add_pmr<Benchmark, boost_resource<Resource>>(list, line.name, "", "", harness::untrimmed_malloc());
}

// Labels: typed, typed and winked out, through pmr, that and winked out.
template <class Benchmark, class Heap>
void add_heap(std::vector<measured_allocator>& list, const char* strategy,
              std::array<const char*, 4> labels) {
  add_typed<Benchmark, typed_binding<Heap>>(list, strategy, labels[0], labels[1]);
  add_pmr<Benchmark, resource<Heap>>(list, strategy, labels[2], labels[3]);
}

template <class Benchmark>
void add_papers(std::vector<measured_allocator>& list) {
  add_malloc<Benchmark>(list, *harness::find_foreign_malloc("glibc"), "AS1");
  list.push_back({"AS2", "new_delete", binding::pmr, destruction::normal,
                  detail::run_pmr<Benchmark, new_delete_maker, destruction::normal>});
  add_heap<Benchmark, monotonic>(list, "monotonic", {"AS3", "AS4", "AS5", "AS6"});
  add_heap<Benchmark, multipool>(list, "multipool", {"AS7", "AS8", "AS9", "AS10"});
  add_heap<Benchmark, multipool_over_monotonic>(list, "multipool/monotonic",
                                                {"AS11", "AS12", "AS13", "AS14"});
}

template <class Benchmark>
void add_mallocs(std::vector<measured_allocator>& list) {
  for (const harness::foreign_malloc& m : harness::foreign_mallocs().subspan(1))
    add_malloc<Benchmark>(list, m);
}

template <class Benchmark>
void add_unsynchronised(std::vector<measured_allocator>& list) {
  harness::for_each_foreign_resource([&]<class Resource>(harness::foreign_resource<Resource> line) {
    if constexpr (!harness::is_synchronised<Resource>) add_foreign_pmr<Benchmark>(list, line);
  });
}

// Multipool: a synchronised one of ours.
template <class Benchmark, class Multipool = synchronized_multipool>
void add_synchronised(std::vector<measured_allocator>& list) {
  harness::for_each_foreign_resource([&]<class Resource>(harness::foreign_resource<Resource> line) {
    if constexpr (harness::is_synchronised<Resource>) add_foreign_pmr<Benchmark>(list, line);
  });
  add_pmr<Benchmark, resource<Multipool>>(list, "synchronized_multipool");
}

template <class Benchmark>
void add_own(std::vector<measured_allocator>& list) {
  harness::for_each_own_heap([&]<class Line>(Line) {
    if constexpr (Line::replay != harness::in_replay::no)
      if (std::ranges::find(list, Line::name, &measured_allocator::strategy) == list.end())
        add_pmr<Benchmark, resource<typename Line::type>>(list, Line::name.data());
  });
}

}  // namespace mallard::bench
