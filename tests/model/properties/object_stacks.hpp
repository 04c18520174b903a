// Properties of object stacks: what ends with a block, and an object that grows among blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "model/random_trace.hpp"

namespace mallard::model {

// What stacks of blocks have whatever they are made of.
template <class H>
concept frees_from_a_block = heap<H> && requires(H& h, void* p) {
  { h.free_from(p) } noexcept;
};

template <class H>
concept grows_objects = frees_from_a_block<H> && requires(H& h, std::size_t size) {
  { h.grow(size) } noexcept;
  { h.finish() } noexcept;
};

template <class M>
struct free_from_ends_a_block_and_what_came_after {
  static constexpr const char* name = "free_from_ends_a_block_and_what_came_after";
  static constexpr bool applies = frees_from_a_block<typename M::heap>;
  static void check() {
    for_each_profile<M>([](const profile& p, shadow<M>& s, const chunk_registry& registry) {
      random_source r(103);
      std::size_t settled = 0;
      std::map<std::uint64_t, std::size_t> before;  // bytes granted at the allocation of each block
      for (std::size_t step = 0; step < p.steps && !s.broken(); ++step) {
        if (s.live() == 0 || (s.live() < p.live && r.below(8) != 0)) {
          const request q = draw<M>(p, r);
          before[s.allocations()] = s.usage().granted;
          EXPECT_TRUE(s.allocate(q.size, q.align));
        } else {
          const live_block from = s[r.below(s.live())];
          s.heap().free_from(from.data);
          s.forget_since(from.allocation);
          EXPECT_LT(s.usage().granted - before[from.allocation], from.align)
              << "what was in front of the block";
        }
        s.check_step();
        s.check_contents();
        if (step == p.steps / 4) settled = registry.max_held();
      }
      EXPECT_LE(registry.max_held(), 4 * settled) << "it grew with every end";
    });
  }
};

// Beside blocks that live, and through whatever the source does.
template <class M>
struct an_object_grows_among_blocks {
  static constexpr const char* name = "an_object_grows_among_blocks";
  static constexpr bool applies = grows_objects<typename M::heap> && probed<M>;
  static void check() {
    const chunk_registry registry;
    rig<M> under_test;
    shadow<M> s(under_test.heap, registry);
    random_source r(107);
    std::string expected;
    for (int step = 0; step < 1000 && !s.broken(); ++step) {
      if (step % 97 == 0) source_of(s.heap()).fail_from(1 + r.below(3));
      if (step % 97 == 30) source_of(s.heap()).fail_no_more();
      const std::size_t what = r.below(32);
      if (what == 0) {
        finish(s, expected);
      } else if (what == 1) {
        end_all(s, r);
        expected.clear();
      } else if (what < 4) {
        s.allocate(r.below(200), std::size_t{1} << r.below(7));
      } else {
        append(s, expected, r.below(8) == 0 ? r.spread(1, 5000) : r.below(40), r);
      }
      check_object(s, expected);
      s.check();
      s.check_contents();
    }
    source_of(s.heap()).fail_no_more();
    finish(s, expected);
  }

 private:
  static void end_all(shadow<M>& s, random_source& r) {
    if (r.below(2) == 0)
      s.heap().clear();
    else
      s.heap().release();
    s.forget_since(0);
  }

  static void append(shadow<M>& s, std::string& expected, std::size_t size, random_source& r) {
    auto* const added = static_cast<char*>(s.heap().grow(size));
    if (added == nullptr) return;
    for (std::size_t i = 0; i < size; ++i) expected += added[i] = static_cast<char>(r.below(256));
  }

  // It becomes one of the blocks that must stay.
  static void finish(shadow<M>& s, std::string& expected) {
    const block made = s.heap().finish();
    EXPECT_EQ(static_cast<bool>(made) || expected.empty(), true);
    if (!made) return;
    EXPECT_EQ(std::string(static_cast<const char*>(made.data), expected.size()), expected);
    s.adopt(made, expected.size(), default_align);
    expected.clear();
  }

  static void check_object(shadow<M>& s, const std::string& expected) {
    const block so_far = s.heap().object();
    ASSERT_EQ(so_far.size, expected.size());
    if (so_far) {
      EXPECT_EQ(std::string(static_cast<const char*>(so_far.data), so_far.size), expected);
    }
  }
};

}  // namespace mallard::model
