#include "p0089/density/density.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace mallard::bench {
namespace {

TEST(Density, LeavesAreElementsOrElementsOfElements) {
  EXPECT_EQ(leaves_of({1, 6, 0, true}), 64u);
  EXPECT_EQ(leaves_of({4, 16, 0, true}), 65536u);
  EXPECT_EQ(leaves_of({5, 6, 0, true}), 64u * 128);
  EXPECT_EQ(leaves_of({12, 16, 0, true}), 65536u * 128);
}

TEST(Density, NeedsMoreForStringsAndForNesting) {
  EXPECT_GT(bytes_needed({2, 10, 0, true}), bytes_needed({1, 10, 0, true}));
  EXPECT_GT(bytes_needed({7, 10, 0, true}), bytes_needed({3, 10, 0, true}));
  EXPECT_LT(bytes_needed({12, 16, 0, true}), std::uint64_t{20} << 30)
      << "all of the paper's cells fit 20 GiB";
}

TEST(Density, NamesItsGroup) {
  EXPECT_EQ(group_of(density_setting{3, 10, 20, false}).dump(),
            R"({"structure":"DS3","size":10,"leaves":20,"cached_hashes":false})");
}

}  // namespace
}  // namespace mallard::bench
