// Properties of capabilities that act on the whole heap: release, clear, trim, rewind.
#pragma once

#include "model/random_trace.hpp"

namespace mallard::model {

template <class M>
struct release_leaves_the_heap_as_new {
  static constexpr const char* name = "release_leaves_the_heap_as_new";
  static constexpr bool applies = releasable<typename M::heap>;
  static void check() {
    for_each_profile<M>([](const profile& p, shadow<M>& s, const chunk_registry& registry) {
      ASSERT_TRUE(s.allocate(usual_size<M>, 8));
      const std::size_t first_chunk = s.usage().held;
      for (int round = 0; round < 4 && !s.broken(); ++round) {
        run_trace(s, p, 23);
        s.heap().release();
        s.forget_since(0);
        s.check();
        EXPECT_EQ(s.usage().held, M::lent_bytes);
        EXPECT_EQ(registry.held(), M::lent_bytes);
        ASSERT_TRUE(s.allocate(usual_size<M>, 8));
        EXPECT_EQ(s.usage().held, first_chunk) << "a released heap grows as a new one does";
      }
    });
  }
};

template <class M>
struct clear_keeps_memory_for_the_same_work {
  static constexpr const char* name = "clear_keeps_memory_for_the_same_work";
  static constexpr bool applies = clearable<typename M::heap>;
  static void check() {
    for_each_profile<M>([](const profile& p, shadow<M>& s, const chunk_registry& registry) {
      constexpr int rounds = rounds_of(12);
      std::size_t settled = 0;
      for (int round = 0; round < rounds && !s.broken(); ++round) {
        random_source r(29);
        for (std::size_t i = 0; i < p.live; ++i) {
          const request q = draw<M>(p, r);
          ASSERT_TRUE(s.allocate(q.size, q.align));
          s.check_step();
        }
        s.check_contents();
        s.heap().clear();
        s.forget_since(0);
        s.check();
        EXPECT_EQ(s.usage().granted, 0u);
        if (round == rounds / 2 - 1) settled = registry.max_held();
      }
      EXPECT_LE(registry.max_held(), settled + settled / 8) << "it grew with every clear";
    });
  }
};

// Live blocks stay; of the rest at most `keep` bytes.
template <class M>
struct trim_gives_back_what_no_block_needs {
  static constexpr const char* name = "trim_gives_back_what_no_block_needs";
  static constexpr bool applies = trimmable<typename M::heap> && inspectable<typename M::heap>;
  static void check() {
    for_each_profile<M>([](const profile& p, shadow<M>& s, const chunk_registry&) {
      run_trace(s, p, 67);
      for (const std::size_t keep : {SIZE_MAX, std::size_t{65536}, std::size_t{0}}) trim(s, keep);
      s.check_contents();
      run_trace(s, p, 71);
      random_source r(73);
      drain(s, r);
      for (const std::size_t keep : {std::size_t{65536}, std::size_t{0}}) {
        trim(s, keep);
        EXPECT_LE(s.usage().held, keep) << "no block lives";
      }
      EXPECT_EQ(s.heap().trim(0), 0u) << "nothing is left to give back";
    });
  }

 private:
  static void trim(shadow<M>& s, std::size_t keep) {
    const std::size_t before = s.usage().held;
    const std::size_t returned = s.heap().trim(keep);
    EXPECT_EQ(before - s.usage().held, returned) << "what it says it gave back";
    s.check();
  }
};

template <class M>
struct rewind_ends_what_came_after_the_mark {
  static constexpr const char* name = "rewind_ends_what_came_after_the_mark";
  static constexpr bool applies = rewindable<typename M::heap>;
  static void check() {
    for_each_profile<M>([](const profile& p, shadow<M>& s, const chunk_registry& registry) {
      random_source r(31);
      descend(s, p, r, 4);
      if (s.broken()) return;
      EXPECT_EQ(s.live(), 0u);
      EXPECT_EQ(s.usage().granted, 0u) << "rewound to the beginning, nothing is live";
      const std::size_t settled = registry.max_held();
      for (int round = 0; round < 10 && !s.broken(); ++round) {
        random_source again(31);
        descend(s, p, again, 4);
      }
      EXPECT_LE(registry.max_held(), 2 * settled) << "it grew with every rewind";
    });
  }

 private:
  // As calls nest: each level allocates, calls deeper twice, and rewinds to where it began.
  static void descend(shadow<M>& s, const profile& p, random_source& r, int depth) {
    const auto mark = s.heap().mark();
    const std::uint64_t allocation = s.allocations();
    const heap_usage before = s.usage();
    for (std::size_t i = r.below(p.live / 8 + 2); i > 0; --i) {
      const request q = draw<M>(p, r);
      EXPECT_TRUE(s.allocate(q.size, q.align));
      s.check_step();
    }
    for (int child = 0; child < 2 && depth > 0 && !s.broken(); ++child) descend(s, p, r, depth - 1);
    s.heap().rewind(mark);
    s.forget_since(allocation);
    s.check();
    s.check_contents();
    EXPECT_EQ(s.usage().granted, before.granted);
  }
};

}  // namespace mallard::model
