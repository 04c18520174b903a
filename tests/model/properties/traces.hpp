// Properties that hold over random traces: the centre of the suite.
#pragma once

#include "model/random_trace.hpp"

namespace mallard::model {

template <class M>
void trace_from_new_to_empty(const profile& p, std::uint64_t seed, sizing how) {
  const chunk_registry registry(how);
  rig<M> under_test;
  shadow<M> s(under_test.heap, registry);
  run_trace(s, p, seed);
  random_source r(seed);
  drain(s, r);
}

template <class M>
struct random_traces_over_an_exact_source {
  static constexpr const char* name = "random_traces_over_an_exact_source";
  static constexpr bool applies = true;
  static void check() {
    for (const profile& p : profiles::all)
      for (std::uint64_t seed = 1; seed <= 4 && !testing::Test::HasFailure(); ++seed)
        trace_from_new_to_empty<M>(p, seed, sizing::exact);
  }
};

// A source may give more than was asked for, and gets any size between the two back.
template <class M>
struct random_traces_over_a_source_of_pages {
  static constexpr const char* name = "random_traces_over_a_source_of_pages";
  static constexpr bool applies = probed<M>;
  static void check() {
    for (const profile& p : profiles::all)
      for (std::uint64_t seed = 101; seed <= 102 && !testing::Test::HasFailure(); ++seed)
        trace_from_new_to_empty<M>(p, seed, sizing::paged);
  }
};

// Live blocks end with their heap: the chunk_registry demands every chunk back.
template <class M>
struct destruction_gives_every_chunk_back {
  static constexpr const char* name = "destruction_gives_every_chunk_back";
  static constexpr bool applies = probed<M> && M::ends_its_blocks;
  static void check() {
    for (const profile& p : profiles::all) {
      const chunk_registry registry;
      {
        rig<M> under_test;
        shadow<M> s(under_test.heap, registry);
        run_trace(s, p, 7);
        s.allocate(usual_size<M>, 8);
        EXPECT_GT(registry.held(), 0u);
      }
      EXPECT_EQ(registry.held(), 0u) << "after profile " << p.name;
    }
  }
};

}  // namespace mallard::model
