#include "mallard/core/resize.hpp"

#include <gtest/gtest.h>

#include <iterator>

namespace mallard {
namespace {

TEST(ResizeWay, WaysAreCombinedAndAskedFor) {
  constexpr resize_way growing = resize_way::expand_forward | resize_way::allocate_new;
  EXPECT_TRUE(has_way(growing, resize_way::expand_forward));
  EXPECT_TRUE(has_way(growing, resize_way::expand_backward | resize_way::allocate_new));
  EXPECT_FALSE(has_way(growing, resize_way::shrink));
  EXPECT_FALSE(has_way(resize_way::none, growing));
  EXPECT_EQ(growing & resize_way::allocate_new, resize_way::allocate_new);
}

TEST(ResizeWay, EachWayIsABitOfItsOwn) {
  constexpr resize_way all[] = {resize_way::expand_forward, resize_way::expand_backward,
                                resize_way::allocate_new, resize_way::shrink, resize_way::try_shrink};
  for (std::size_t i = 0; i < std::size(all); ++i)
    for (std::size_t j = 0; j < std::size(all); ++j) EXPECT_EQ(has_way(all[i], all[j]), i == j);
}

TEST(ResizeResult, IsAFailureUntilItHasMemory) {
  const resize_result nothing;
  EXPECT_FALSE(nothing.memory);
  EXPECT_FALSE(nothing.reused);
}

TEST(ResizeRequest, MovesBackwardByAnyStepUnlessTold) {
  const resize_request request{nullptr, 8, 8, 16, 32, resize_way::expand_backward};
  EXPECT_EQ(request.step, 1u);
}

}  // namespace
}  // namespace mallard
