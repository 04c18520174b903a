#include "mallard/core/address_sort.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>

namespace mallard {
namespace {

class node {
 public:
  [[nodiscard]] node* next() const noexcept { return next_; }
  void set_next(node* to) noexcept { next_ = to; }

 private:
  node* next_ = this;
};

using sort = address_sort<node, &node::next, &node::set_next>;

TEST(AddressSort, OfNoNodeIsNone) {
  sort empty;
  EXPECT_EQ(empty.take_all(), nullptr);
}

// 7 is prime to every count here but itself and its multiples: the nodes come in an order that is neither.
TEST(AddressSort, LeadsThroughAllInTheOrderOfAddresses) {
  static std::array<node, 1000> nodes;
  for (const std::size_t count : {1u, 2u, 3u, 4u, 5u, 64u, 999u, 1000u}) {
    sort all;
    for (std::size_t i = 0; i < count; ++i) all.add(&nodes[i * 7 % count]);
    std::size_t found = 0;
    for (const node* n = all.take_all(); n != nullptr; n = n->next()) ASSERT_EQ(n, &nodes[found++]) << count;
    EXPECT_EQ(found, count);
    EXPECT_EQ(all.take_all(), nullptr) << "what was taken is gone";
  }
}

}  // namespace
}  // namespace mallard
