// The numbers themselves are compared with Boost's in tests/containers/boost.
#include "mallard/allocator/allocation_type.hpp"

#include <gtest/gtest.h>

#include <bit>

namespace mallard {
namespace {

TEST(AllocationType, EachCommandIsABitOfItsOwn) {
  using namespace commands;  // NOLINT(google-build-using-namespace): all of it
  allocation_type all = 0;
  for (const allocation_type command :
       {allocate_new, expand_fwd, expand_bwd, shrink_in_place, nothrow_allocation, try_shrink_in_place}) {
    EXPECT_TRUE(std::has_single_bit(command));
    EXPECT_EQ(all & command, 0u);
    all |= command;
  }
}

}  // namespace
}  // namespace mallard
