// Properties of changing the size of one block.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "model/capability_steps.hpp"
#include "model/random_trace.hpp"

namespace mallard::model {

template <class H, resize_way Way>
concept resizable_by = resizable<H> && has_way(H::ways, Way);

template <class M>
struct resize_keeps_to_the_request {
  static constexpr const char* name = "resize_keeps_to_the_request";
  static constexpr bool applies = resizable<typename M::heap>;
  static void check() {
    const chunk_registry registry;
    rig<M> under_test;
    shadow<M> s(under_test.heap, registry);
    for (const std::size_t size : {1u, 24u, 1000u, 30000u})
      ASSERT_TRUE(s.allocate(std::min(size, M::largest_size), std::min<std::size_t>(8, M::largest_align)));
    for (std::size_t i = 0; i < s.live(); ++i) {
      const live_block b = s[i];
      const auto refused = [&](std::size_t limit, std::size_t preferred, resize_way ways) {
        EXPECT_FALSE(resize_and_check(s, i, {b.data, b.requested, b.align, limit, preferred, ways}));
        s.check();
      };
      refused(b.received + 1, b.received + 1, resize_way::none);
      for (const std::size_t absurd : {SIZE_MAX, SIZE_MAX - 64, max_request + 1}) {
        refused(absurd, absurd, resize_way::expand_forward);
        refused(absurd, absurd, resize_way::expand_forward | resize_way::expand_backward);
        refused(absurd, absurd, resize_way::allocate_new);
      }
    }
    s.check_contents();
  }
};

// A wish for more than there is must not stand in the way of the least that helps.
template <class M>
struct an_absurd_wish_does_not_spoil_the_limit {
  static constexpr const char* name = "an_absurd_wish_does_not_spoil_the_limit";
  static constexpr bool applies = resizable_by<typename M::heap, resize_way::allocate_new> && probed<M>;
  static void check() {
    const chunk_registry registry;
    rig<M> under_test;
    shadow<M> s(under_test.heap, registry);
    const std::size_t size = std::min<std::size_t>(100, M::largest_size);
    const std::size_t limit = std::min<std::size_t>(5000, M::largest_size);
    const std::size_t align = std::min<std::size_t>(8, M::largest_align);
    for (const std::size_t wish : {std::size_t{1} << 40, max_request, SIZE_MAX}) {
      ASSERT_TRUE(s.allocate(size, align));
      ASSERT_TRUE(s.allocate(1, 8));
      const std::size_t first = s.oldest();
      const resize_request q{s[first].data, size, align, limit, wish, resize_way::allocate_new};
      EXPECT_TRUE(resize_and_check(s, first, q));
      s.check();
      while (s.live() > 0) s.deallocate(0, s[0].received);
    }
  }
};

// What it is for: a vector that grows alone in its heap moves seldom or never.
template <class M>
struct one_block_grows_where_it_is {
  static constexpr const char* name = "one_block_grows_where_it_is";
  static constexpr bool applies =
      resizable_by<typename M::heap, resize_way::expand_forward> && M::grows_in_place;
  static void check() {
    const chunk_registry registry;
    rig<M> under_test;
    shadow<M> s(under_test.heap, registry);
    const std::size_t largest = std::min<std::size_t>(2000, M::largest_size);
    ASSERT_TRUE(s.allocate(std::min<std::size_t>(16, largest), std::min<std::size_t>(8, M::largest_align)));
    constexpr resize_way ways = resize_way::expand_forward | resize_way::allocate_new;
    std::size_t in_place = 0;
    std::size_t moved = 0;
    while (s[0].received < largest && !s.broken()) {
      const live_block b = s[0];
      const std::size_t size = std::min(b.received + 16, M::largest_size);
      ASSERT_TRUE(resize_and_check(s, 0, {b.data, b.received, b.align, size, size, ways}));
      ++(s[0].data == b.data ? in_place : moved);
      s.check();
    }
    EXPECT_GT(in_place, 4 * moved);
  }
};

// Both ways, by whole objects of any size, while the neighbours come and go.
template <class M>
struct a_block_grows_both_ways_by_whole_objects {
  static constexpr const char* name = "a_block_grows_both_ways_by_whole_objects";
  static constexpr bool applies = resizable_by<typename M::heap, resize_way::expand_backward>;
  static void check() {
    for (const object o : {object{1, 1}, {3, 1}, {12, 4}, {24, 8}, {4096, 16}}) {
      SCOPED_TRACE("objects of " + std::to_string(o.size) + " bytes");
      const chunk_registry registry;
      rig<M> under_test;
      shadow<M> s(under_test.heap, registry);
      random_source r(o.size);
      std::size_t forward = 0;
      std::size_t backward = 0;
      std::size_t both = 0;
      for (int i = 0; i < rounds_of(1500) && !s.broken(); ++i) {
        while (s.live() < 24) ASSERT_TRUE(s.allocate(o.size * r.between(1, most(o)), o.align));
        for (std::size_t ended = r.below(12); ended > 0; --ended) s.deallocate_by_pointer(r.below(s.live()));
        if constexpr (thread_caching<typename M::heap>) s.heap().flush();  // what is cached is in the way
        const std::size_t chosen = r.below(s.live());
        const live_block old = s[chosen];
        const std::size_t limit = (old.received / o.size + r.between(1, most(o))) * o.size;
        const resize_way ways = in_place[r.below(in_place.size())];
        const std::size_t preferred = limit + o.size * r.below(2 * most(o));
        if (!resize_and_check(s, chosen, {old.data, old.received, o.align, limit, preferred, ways, o.size}))
          continue;
        const live_block& grown = s[s.live() - 1];
        const bool moved = grown.data != old.data;
        const bool reaches_on = grown.data + grown.received > old.data + old.received;
        forward += static_cast<std::size_t>(!moved && reaches_on);
        backward += static_cast<std::size_t>(moved && !reaches_on);
        both += static_cast<std::size_t>(moved && reaches_on);
        EXPECT_TRUE(!reaches_on || has_way(ways, resize_way::expand_forward)) << "grew a way it was not to";
        s.check_step();
      }
      s.check_contents();
      if (!M::grows_in_place) continue;
      EXPECT_GT(forward, 0u);
      EXPECT_GT(backward, 0u);
      EXPECT_GT(both, 0u);
    }
  }

 private:
  struct object {
    std::size_t size, align;  // bytes
  };
  static constexpr std::array in_place = {resize_way::expand_forward, resize_way::expand_backward,
                                          resize_way::expand_forward | resize_way::expand_backward};
  // Objects of a block: few, where they are large.
  static std::size_t most(object o) { return std::max<std::size_t>(3, 400 / o.size); }
};

}  // namespace mallard::model
