// Properties that hold over random traces: the centre of the suite. Memory that was ended is handed out
// again.
#pragma once

#include <algorithm>

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

// The same work again and again needs no more than it needed in its first third; a little, because padding
// depends on addresses.
template <class M>
struct the_same_work_needs_no_more_memory {
  static constexpr const char* name = "the_same_work_needs_no_more_memory";
  static constexpr bool applies = probed<M> && M::reuses;
  static void check() {
    for_each_profile<M>([](const profile& p, shadow<M>& s, const chunk_registry& registry) {
      constexpr int rounds = rounds_of(18);
      std::size_t settled = 0;
      for (int round = 0; round < rounds && !s.broken(); ++round) {
        random_source r(17);
        while (s.live() < p.live) {
          const request q = draw<M>(p, r);
          ASSERT_TRUE(s.allocate(std::min(q.size, M::largest_reused_size),
                                 std::min(q.align, M::largest_reused_align)));
        }
        s.check();
        while (s.live() > 0) deallocate_one(s, r);
        s.check();
        if (round == rounds / 3 - 1) settled = registry.max_held();
      }
      EXPECT_LE(registry.max_held(), settled + settled / 8) << "it grew with every round";
    });
  }
};

// A block ended with any allowed size goes back to where blocks of its size are taken from: the next
// request finds it, and the source is not asked.
template <class M>
struct an_ended_block_serves_the_next_request {
  static constexpr const char* name = "an_ended_block_serves_the_next_request";
  static constexpr bool applies = probed<M> && M::reuses && layered<typename M::heap>;
  static void check() {
    const auto most = std::min<std::size_t>({5000, M::largest_size, M::largest_reused_size});
    for (std::size_t align = 1; align <= 64; align *= 8) {
      const chunk_registry registry;
      rig<M> under_test;
      shadow<M> s(under_test.heap, registry);
      for (std::size_t size = 0; size <= most; size += 1 + size / 24) {
        SCOPED_TRACE(std::to_string(size) + " bytes aligned to " + std::to_string(align));
        ASSERT_TRUE(s.allocate(size, align));
        const std::size_t received = s[0].received;
        const std::size_t high = registry.max_held();
        for (int turn = 0; turn < rounds_of(40); ++turn) {
          const std::size_t i = s.youngest();
          s.deallocate(i, turn % 2 == 0 ? received : s[i].requested);
          ASSERT_TRUE(s.allocate(turn % 3 == 0 ? received : size, align));
        }
        EXPECT_EQ(registry.max_held(), high) << "turns over one block took more memory";
        s.check();
        ASSERT_FALSE(s.broken());
        while (s.live() > 0) s.deallocate(0, s[0].received);
      }
    }
  }
};

}  // namespace mallard::model
