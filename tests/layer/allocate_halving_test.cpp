#include "mallard/layer/allocate_halving.hpp"

#include <gtest/gtest.h>

#include <array>

#include "mallard/source/fixed_buffer.hpp"

namespace mallard {
namespace {

class AllocateHalving : public testing::Test {
 protected:
  alignas(16) std::array<std::byte, 1024> memory_{};
  fixed_buffer buffer_{memory_.data(), memory_.size()};
};

TEST_F(AllocateHalving, GivesWhatIsWished) { EXPECT_EQ(allocate_halving(buffer_, 1024, 16, 16).size, 1024u); }

TEST_F(AllocateHalving, GivesHalfWhereThatIsAllThereIs) {
  EXPECT_EQ(allocate_halving(buffer_, 3000, 16, 16).size, align_up(750, 16));
}

TEST_F(AllocateHalving, EndsAtTheLeast) {
  EXPECT_EQ(allocate_halving(buffer_, 1040, 1000, 16).size, 1008u);
  EXPECT_EQ(allocate_halving(buffer_, 2000, 100, 16), block{}) << "nothing of that size is left";
}

}  // namespace
}  // namespace mallard
