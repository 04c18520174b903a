// columns: what the lists of contestants of the three benchmarks are made of.
//
//     boost.V1 none Std V1 | boost.V2... V2... | locked.V1 locked.V2 | Std over other mallocs
//
// Boost's V1 is the first: it is what the seed compares with, and A/A. `none` is the floor. `Benchmark` is a
// class of nothing but static members:
//
//     static std::size_t live_bytes(const page&);          that the work has alive at most
//     template <class Way> static void measure(Way&, page&);
#pragma once

#include <string>
#include <vector>

#include "allocplus/ways.hpp"
#include "contest/contestant.hpp"
#include "contest/page.hpp"
#include "harness/foreign_malloc.hpp"
#include "mallard/core/light_mutex.hpp"
#include "mallard/heap/best_fit.hpp"
#include "mallard/layer/locked.hpp"

namespace mallard::bench {

using locked_best_fit = locked<best_fit, light_mutex>;

template <class Benchmark, class Way>
void run_way(page& p) {
  Way way(Benchmark::live_bytes(p));
  Benchmark::measure(way, p);
  p.state = harness::work_state::done;
}

template <class Benchmark, class Way>
void add_way(std::vector<contestant>& list, const char* label, const char* strategy) {
  list.push_back({label, strategy, binding::typed, destruction::normal, run_way<Benchmark, Way>});
}

template <class Benchmark>
void add_std(std::vector<contestant>& list, const harness::foreign_malloc& m, const char* label = "") {
  list.push_back(
      {label, std::string(m.name), binding::malloc, destruction::normal, run_way<Benchmark, std_way>, &m});
}

template <class Benchmark, class Floor>
void add_plain(std::vector<contestant>& list) {
  add_way<Benchmark, boost_way<1>>(list, "boost.V1", "boost");
  add_way<Benchmark, v2_way<Floor>>(list, "none", floor_strategy);
  add_std<Benchmark>(list, *harness::find_foreign_malloc("glibc"), "Std");
  add_way<Benchmark, v1_way<best_fit>>(list, "V1", "best_fit");
}

// A version-2 allocator of Boost's and ours, with the same commands disabled; labels are theirs and ours.
template <class Benchmark, allocation_type Disabled = 0>
void add_version_2(std::vector<contestant>& list, const char* theirs, const char* ours) {
  add_way<Benchmark, boost_way<2, Disabled>>(list, theirs, "boost");
  add_way<Benchmark, v2_way<best_fit, Disabled>>(list, ours, "best_fit");
}

// Boost's heap is for all threads of a process, and locks; so do these.
template <class Benchmark>
void add_locked(std::vector<contestant>& list) {
  add_way<Benchmark, v1_way<locked_best_fit>>(list, "locked.V1", "locked best_fit");
  add_way<Benchmark, v2_way<locked_best_fit>>(list, "locked.V2", "locked best_fit");
}

template <class Benchmark>
void add_other_mallocs(std::vector<contestant>& list) {
  for (const harness::foreign_malloc& m : harness::foreign_mallocs().subspan(1)) add_std<Benchmark>(list, m);
}

}  // namespace mallard::bench
