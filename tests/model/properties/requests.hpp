// Properties of single requests: zero, alignment, absurd sizes, who may end a block, and blocks of one size.
#pragma once

#include <algorithm>
#include <array>
#include <thread>

#include "model/random.hpp"
#include "model/shadow.hpp"

namespace mallard::model {

template <class M>
struct zero_bytes_are_a_block_of_their_own {
  static constexpr const char* name = "zero_bytes_are_a_block_of_their_own";
  static constexpr bool applies = true;
  static void check() {
    const chunk_registry registry;
    rig<M> under_test;
    shadow<M> s(under_test.heap, registry);
    for (std::size_t align = 1; align <= 64; align *= 2) {
      ASSERT_TRUE(s.allocate(0, align));
      ASSERT_TRUE(s.allocate(0, align));
      s.check();
    }
    s.check_contents();
    while (s.live() > 0) s.deallocate(0, 0);
    s.check();
  }
};

template <class M>
struct blocks_have_the_alignment_asked_for {
  static constexpr const char* name = "blocks_have_the_alignment_asked_for";
  static constexpr bool applies = true;
  static void check() {
    const chunk_registry registry;
    rig<M> under_test;
    shadow<M> s(under_test.heap, registry);
    const std::array<std::size_t, 16> sizes = {1,  2,   7,   8,    9,    16,   17,   24,
                                               48, 100, 255, 1000, 4095, 4096, 4097, 20000};
    for (std::size_t align = 1; align <= M::largest_align; align *= 2) {
      for (const std::size_t size : sizes) {
        if (size > M::largest_size) continue;
        ASSERT_TRUE(s.allocate(size, align)) << size << " bytes aligned to " << align;
        ASSERT_TRUE(s.allocate(1, 1));  // leaves the next place unaligned
        ASSERT_FALSE(s.broken()) << size << " bytes aligned to " << align;
        s.check_step();
      }
    }
    s.check();
    s.check_contents();
    for (bool received = false; s.live() > 0; received = !received) {
      s.deallocate(0, received ? s[0].received : s[0].requested);
      s.check_step();
    }
    s.check();
  }
};

template <class M>
struct absurd_requests_are_null_and_change_nothing {
  static constexpr const char* name = "absurd_requests_are_null_and_change_nothing";
  static constexpr bool applies = true;
  static void check() {
    const chunk_registry registry;
    rig<M> under_test;
    shadow<M> s(under_test.heap, registry);
    ASSERT_TRUE(s.allocate(usual_size<M>, 8));
    ASSERT_TRUE(s.allocate(std::min<std::size_t>(5000, M::largest_size), 16));
    for (std::size_t align = 1; align <= M::largest_align; align *= 2) {
      for (std::size_t below = 0; below <= 2 * align; below += below < 20 ? 1 : align / 4) {
        ASSERT_FALSE(s.allocate(SIZE_MAX - below, align))
            << "SIZE_MAX - " << below << " aligned to " << align;
        ASSERT_FALSE(s.allocate(max_request + 1 + below, align)) << "max_request + 1 + " << below;
      }
    }
    if constexpr (probed<M>) {  // what no source has
      for (std::size_t below = 0; below < 100; ++below) {
        ASSERT_FALSE(s.allocate(max_request - below, 1));
        ASSERT_FALSE(s.allocate((max_request >> 1) + below, 4096));
      }
    }
    s.check();
    ASSERT_TRUE(s.allocate(usual_size<M>, 8)) << "a heap that refused serves on";
    s.check();
    s.check_contents();
    while (s.live() > 0) s.deallocate(0, s[0].requested);
  }
};

template <class M>
struct received_sizes_are_predicted {
  static constexpr const char* name = "received_sizes_are_predicted";
  static constexpr bool applies = predictable<typename M::heap>;
  static void check() {
    for (const sizing how : {sizing::exact, sizing::paged}) {
      const chunk_registry registry(how);
      rig<M> under_test;
      shadow<M> s(under_test.heap, registry);
      random_source r(41);
      for (int i = 0; i < 300; ++i) {
        const std::size_t size = std::min(r.below(8) == 0 ? 0 : r.spread(1, 1 << 16), M::largest_size);
        const std::size_t align = std::size_t{1} << r.below(14);
        ASSERT_TRUE(s.allocate(size, align));
        const live_block& b = s[0];
        EXPECT_EQ(b.received, s.heap().received_size(size, b.align)) << size << " aligned to " << align;
        EXPECT_EQ(b.received, s.heap().received_size(b.received, b.align)) << size << " aligned to " << align;
        s.deallocate(0, r.between(size, b.received));
        s.check();
      }
      EXPECT_EQ(s.heap().received_size(SIZE_MAX, 1), 0u);
      EXPECT_EQ(s.heap().received_size(max_request + 1, 16), 0u);
      EXPECT_EQ(s.heap().received_size(max_request, (max_request >> 1) + 1), 0u);
    }
  }
};

// What one thread leaves in a heap, another one finds there.
template <class M>
struct a_block_may_end_on_another_thread {
  static constexpr const char* name = "a_block_may_end_on_another_thread";
  static constexpr bool among_threads = true;
  static constexpr bool applies = true;
  static void check() {
    const chunk_registry registry;
    rig<M> under_test;
    shadow<M> s(under_test.heap, registry);
    const std::array<std::size_t, 4> sizes = {1, 40, 700, 9000};
    for (int turn = 0; turn < 20; ++turn) {
      std::thread([&] {
        for (std::size_t i = 0; i < s.live(); ++i) s.deallocate(i, s[i].received);
        s.check();
      }).join();
      for (const std::size_t size : sizes) EXPECT_TRUE(s.allocate(std::min(size, M::largest_size), 8));
      s.check();
    }
    std::thread([&] {
      while (s.live() > 0) s.deallocate(0, s[0].requested);
    }).join();
    s.check();
  }
};

template <class M>
struct every_block_has_the_block_size {
  static constexpr const char* name = "every_block_has_the_block_size";
  static constexpr bool applies = fixed_size<typename M::heap>;
  static void check() {
    const chunk_registry registry;
    rig<M> under_test;
    shadow<M> s(under_test.heap, registry);
    random_source r(17);
    for (int i = 0; i < 200; ++i) {
      const std::size_t align = std::size_t{1} << r.below(20);
      ASSERT_TRUE(s.allocate(r.between(0, M::largest_size), align));
      const live_block& b = s[s.youngest()];
      EXPECT_EQ(b.received, s.heap().block_size());
      EXPECT_TRUE(is_aligned(b.data, s.heap().block_align()));
      s.check();
    }
    while (s.live() > 0) s.deallocate(0, s[0].requested);
    s.check();
  }
};

template <class M>
struct what_does_not_fit_is_null {
  static constexpr const char* name = "what_does_not_fit_is_null";
  static constexpr bool applies = fixed_size<typename M::heap>;
  static void check() {
    const chunk_registry registry;
    rig<M> under_test;
    shadow<M> s(under_test.heap, registry);
    ASSERT_TRUE(s.allocate(M::largest_size, M::largest_align));
    const std::size_t size = s.heap().block_size();
    const std::size_t align = s.heap().block_align();
    for (const bool a_freed_one_is_at_hand : {false, true}) {
      if (a_freed_one_is_at_hand) s.deallocate(0, size);
      EXPECT_FALSE(s.heap().allocate(size + 1, 1)) << "larger than a block";
      EXPECT_FALSE(s.heap().allocate(1, 2 * align)) << "stricter than a block";
      s.check();
    }
    ASSERT_TRUE(s.allocate(size, align));
    s.deallocate(0, size);
  }
};

}  // namespace mallard::model
