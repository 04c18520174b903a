// Properties of bursts: many blocks in one call, the same as many calls.
#pragma once

#include <algorithm>
#include <vector>

#include "model/capability_steps.hpp"

namespace mallard::model {

template <class M>
struct bursts_and_single_blocks_mix {
  static constexpr const char* name = "bursts_and_single_blocks_mix";
  static constexpr bool applies = burst<typename M::heap>;
  static void check() {
    const chunk_registry registry;
    rig<M> under_test;
    shadow<M> s(under_test.heap, registry);
    const std::size_t align = std::min<std::size_t>(8, M::largest_align);
    for (const std::size_t wanted : {0u, 1u, 24u, 48u, 1000u, 5000u, 40000u}) {
      const std::size_t size = std::min(wanted, M::largest_size);
      SCOPED_TRACE(std::to_string(size) + " bytes");
      const std::size_t usable = std::max<std::size_t>(size, sizeof(void*));
      ASSERT_TRUE(allocate_burst(s, 50, size, align, 4096));
      for (int i = 0; i < 20; ++i) ASSERT_TRUE(s.allocate(usable, align));
      s.check();
      for (int i = 0; i < 25; ++i) s.deallocate(s.oldest(), usable);  // out of the burst, one by one
      s.check();
      deallocate_burst(s, 0, SIZE_MAX);  // single ones among them
      s.check();
      ASSERT_FALSE(s.broken());
      EXPECT_EQ(s.live(), 0u);
    }
    EXPECT_TRUE(allocate_burst(s, 0, std::min<std::size_t>(48, M::largest_size), align, 0))
        << "no blocks at all can always be had";
  }
};

template <class M>
struct a_new_burst_is_adjacent_as_wished {
  static constexpr const char* name = "a_new_burst_is_adjacent_as_wished";
  static constexpr bool applies = burst<typename M::heap> && M::bursts_are_adjacent;
  static void check() {
    const std::size_t align = std::min<std::size_t>(8, M::largest_align);
    for (const std::size_t contiguous : {4096u, 10000u}) {
      const chunk_registry registry;
      rig<M> under_test;
      shadow<M> s(under_test.heap, registry);
      ASSERT_TRUE(s.allocate(usual_size<M>, align));  // what is left in front of the burst is in no one's way
      const std::size_t stride = s[0].received + M::header_bytes;
      const std::size_t adjacent = contiguous / stride;
      ASSERT_TRUE(allocate_burst(s, 3 * adjacent + 1, usual_size<M>, align, contiguous));
      for (std::size_t i = 1; i <= 3 * adjacent; ++i) {
        if (i % adjacent == 0) continue;
        ASSERT_EQ(s[i + 1].data, s[i].data + stride)
            << "block " << i << " of runs of " << adjacent << ", " << contiguous << " bytes";
      }
      s.check();
      deallocate_burst(s, 0, SIZE_MAX);
      s.check();
    }
  }
};

template <class M>
struct a_burst_is_all_or_none {
  static constexpr const char* name = "a_burst_is_all_or_none";
  static constexpr bool applies = burst<typename M::heap> && probed<M>;
  static void check() {
    const std::size_t align = std::min<std::size_t>(8, M::largest_align);
    for (const std::size_t wanted : {48u, 40000u}) {
      const std::size_t size = std::min(wanted, M::largest_size);
      const chunk_registry registry;
      rig<M> under_test;
      shadow<M> s(under_test.heap, registry);
      ASSERT_TRUE(s.allocate(size, align));
      for (std::size_t n = 1; n <= 4; ++n) {
        source_of(s.heap()).fail_from(n);
        EXPECT_FALSE(allocate_burst(s, 1 << 15, size, align, 0))
            << "request " << n << " and all later ones fail";
        s.check();
      }
      source_of(s.heap()).fail_no_more();
      EXPECT_FALSE(allocate_burst(s, 3, SIZE_MAX - 20, align, 0));
      EXPECT_FALSE(allocate_burst(s, 3, max_request + 1, align, 0));
      EXPECT_TRUE(allocate_burst(s, 30, size, align, 0));
      s.check();
      s.check_contents();
    }
  }
};

template <class M>
struct a_burst_of_sizes_has_each_in_its_place {
  static constexpr const char* name = "a_burst_of_sizes_has_each_in_its_place";
  static constexpr bool applies = tells_bursts_of_sizes<typename M::heap>;
  static void check() {
    const chunk_registry registry;
    rig<M> under_test;
    shadow<M> s(under_test.heap, registry);
    random_source r(83);
    for (const std::size_t unit : {1u, 3u, 12u, 24u, 4096u}) {
      SCOPED_TRACE("units of " + std::to_string(unit) + " bytes");
      std::vector<std::size_t> lengths;
      for (int i = 0; i < 100; ++i) lengths.push_back(r.below(40));
      ASSERT_TRUE(allocate_burst_of_sizes(s, lengths, unit, 8, 4096));
      s.check();
      for (int i = 0; i < 50; ++i) s.deallocate_by_pointer(r.below(s.live()));
      ASSERT_TRUE(s.allocate(usual_size<M>, 8));
      s.check();
      deallocate_burst_of_sizes(s, r, SIZE_MAX);
      s.check();
      EXPECT_EQ(s.live(), 0u);
      lengths[50] = SIZE_MAX / unit + 1;  // the product of which is none
      EXPECT_TRUE(unit == 1 || !allocate_burst_of_sizes(s, lengths, unit, 8, 4096));
      lengths[50] = max_request;
      EXPECT_FALSE(allocate_burst_of_sizes(s, lengths, unit, 8, 4096));
      s.check();
    }
    EXPECT_TRUE(allocate_burst_of_sizes(s, {}, 8, 8, 0)) << "no blocks at all can always be had";
  }
};

}  // namespace mallard::model
