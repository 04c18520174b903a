// columns: what the lists of contestants of all benchmarks are made of.
//
//     add_papers              AS1 AS2 | AS3-AS6 | AS7-AS10 | AS11-AS14
//     add_mallocs             glibc-notrim jemalloc tcmalloc mimalloc tbbmalloc, under AS1
//     add_unsynchronised      std.monotonic std.pool boost.monotonic boost.pool, through std::pmr
//     add_synchronised        std.sync_pool boost.sync_pool synchronized_multipool, through std::pmr
//     add_own                 what else the library has that serves any size, through std::pmr
//
// `Benchmark` is a class of nothing but static members: what it measures in a way, and whether it winks out.
//
//     static constexpr bool winks_out;
//     template <class Way> static void typed(destruction, page&);      a way that is made of nothing
//     template <class Maker> static void pmr(destruction, page&);      a pmr_way over such a resource_maker
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <memory_resource>
#include <string>
#include <vector>

#include "contest/contestant.hpp"
#include "contest/way/boost.hpp"
#include "contest/way/global.hpp"
#include "contest/way/pmr.hpp"
#include "contest/way/typed.hpp"
#include "harness/allocator/foreign_resources.hpp"
#include "harness/allocator/own_heaps.hpp"
#include "harness/foreign_malloc.hpp"
#include "mallard/resource/resource.hpp"

namespace mallard::bench {

namespace detail {

template <class Benchmark, class Way, destruction End>
void run_typed(page& p) {
  Benchmark::template typed<Way>(End, p);
}

template <class Benchmark, class Maker, destruction End>
void run_pmr(page& p) {
  Benchmark::template pmr<Maker>(End, p);
}

}  // namespace detail

template <class Benchmark>
void add_malloc(std::vector<contestant>& list, const harness::foreign_malloc& m, const char* label = "") {
  list.push_back({label, std::string(m.name), binding::malloc, destruction::normal,
                  detail::run_typed<Benchmark, global_way, destruction::normal>, &m});
}

// A heap of ours, known to the compiler.
template <class Benchmark, class Way>
void add_typed(std::vector<contestant>& list, const char* strategy, const char* normal = "",
               const char* winkout = "") {
  list.push_back({normal, strategy, binding::typed, destruction::normal,
                  detail::run_typed<Benchmark, Way, destruction::normal>});
  if constexpr (Benchmark::winks_out)
    list.push_back({winkout, strategy, binding::typed, destruction::winkout,
                    detail::run_typed<Benchmark, Way, destruction::winkout>});
}

template <class Benchmark, class Resource>
void add_pmr(std::vector<contestant>& list, const char* strategy, const char* normal = "",
             const char* winkout = "", const harness::foreign_malloc* beneath = nullptr) {
  using maker = maker_of<Resource>;
  list.push_back({normal, strategy, binding::pmr, destruction::normal,
                  detail::run_pmr<Benchmark, maker, destruction::normal>, beneath});
  if constexpr (Benchmark::winks_out)
    list.push_back({winkout, strategy, binding::pmr, destruction::winkout,
                    detail::run_pmr<Benchmark, maker, destruction::winkout>, beneath});
}

// Another's resource; Boost's as a std::pmr one.
template <class Benchmark, class Resource>
void add_foreign_pmr(std::vector<contestant>& list, harness::foreign_resource<Resource> line) {
  if constexpr (std::derived_from<Resource, std::pmr::memory_resource>)
    add_pmr<Benchmark, Resource>(list, line.name, "", "", harness::untrimmed_malloc());
  else
    add_pmr<Benchmark, boost_resource<Resource>>(list, line.name, "", "", harness::untrimmed_malloc());
}

// Labels: typed, typed and winked out, through pmr, that and winked out.
template <class Benchmark, class Heap>
void add_heap(std::vector<contestant>& list, const char* strategy, std::array<const char*, 4> labels) {
  add_typed<Benchmark, typed_way<Heap>>(list, strategy, labels[0], labels[1]);
  add_pmr<Benchmark, resource<Heap>>(list, strategy, labels[2], labels[3]);
}

template <class Benchmark>
void add_papers(std::vector<contestant>& list) {
  add_malloc<Benchmark>(list, *harness::find_foreign_malloc("glibc"), "AS1");
  list.push_back({"AS2", "new_delete", binding::pmr, destruction::normal,
                  detail::run_pmr<Benchmark, new_delete_maker, destruction::normal>});
  add_heap<Benchmark, monotonic>(list, "monotonic", {"AS3", "AS4", "AS5", "AS6"});
  add_heap<Benchmark, multipool>(list, "multipool", {"AS7", "AS8", "AS9", "AS10"});
  add_heap<Benchmark, multipool_over_monotonic>(list, "multipool/monotonic",
                                                {"AS11", "AS12", "AS13", "AS14"});
}

template <class Benchmark>
void add_mallocs(std::vector<contestant>& list) {
  for (const harness::foreign_malloc& m : harness::foreign_mallocs().subspan(1))
    add_malloc<Benchmark>(list, m);
}

template <class Benchmark>
void add_unsynchronised(std::vector<contestant>& list) {
  harness::for_each_foreign_resource([&]<class Resource>(harness::foreign_resource<Resource> line) {
    if constexpr (!harness::is_synchronised<Resource>) add_foreign_pmr<Benchmark>(list, line);
  });
}

// Multipool: a synchronised one of ours.
template <class Benchmark, class Multipool = synchronized_multipool>
void add_synchronised(std::vector<contestant>& list) {
  harness::for_each_foreign_resource([&]<class Resource>(harness::foreign_resource<Resource> line) {
    if constexpr (harness::is_synchronised<Resource>) add_foreign_pmr<Benchmark>(list, line);
  });
  add_pmr<Benchmark, resource<Multipool>>(list, "synchronized_multipool");
}

template <class Benchmark>
void add_own(std::vector<contestant>& list) {
  harness::for_each_own_heap([&]<class Line>(Line) {
    if constexpr (Line::replay != harness::in_replay::no)
      if (std::ranges::find(list, Line::name, &contestant::strategy) == list.end())
        add_pmr<Benchmark, resource<typename Line::type>>(list, Line::name.data());
  });
}

}  // namespace mallard::bench
