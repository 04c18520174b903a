// Properties of memory that comes back: what was ended is handed out again.
#pragma once

#include <algorithm>

#include "model/random_trace.hpp"

namespace mallard::model {

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
