// Properties of heaps whose blocks all have one size.
#pragma once

#include "model/random.hpp"
#include "model/shadow.hpp"

namespace mallard::model {

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
