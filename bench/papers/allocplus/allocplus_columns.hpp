// columns: what the lists of allocators of the three benchmarks are made of.
//
//     boost.V1 none Std V1 | boost.V2... V2... | locked.V1 locked.V2 | Std over other mallocs
//
// Boost's V1 is the first: it is what the seed compares with, and A/A. `none` is the floor. `Benchmark` is a
// class of nothing but static members:
//
//     static std::size_t live_bytes(const page&);          that the work has alive at most
//     template <class Binding> static void measure(Binding&, page&);
#pragma once

#include <string>
#include <vector>

#include "allocplus/allocplus_bindings.hpp"
#include "common/measured_allocator.hpp"
#include "common/page.hpp"
#include "harness/foreign_malloc.hpp"
#include "mallard/heap/best_fit.hpp"
#include "mallard/layer/locked.hpp"

namespace mallard::bench {

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
