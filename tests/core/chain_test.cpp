#include "mallard/core/chain.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace mallard {
namespace {

struct alignas(void*) cell {
  std::byte bytes[24];
};

std::vector<void*> drained(chain& c) {
  std::vector<void*> blocks;
  while (!c.empty()) blocks.push_back(c.pop_front());
  return blocks;
}

TEST(Chain, KeepsTheOrderOfBothEnds) {
  cell a, b, c;
  chain linked;
  EXPECT_TRUE(linked.empty());
  linked.push_back(&b);
  linked.push_back(&c);
  linked.push_front(&a);
  EXPECT_EQ(linked.size(), 3u);
  EXPECT_EQ(linked.front(), &a);
  EXPECT_EQ(linked.back(), &c);
  EXPECT_EQ(chain::next(&a), &b);
  EXPECT_EQ(chain::next(&c), nullptr);
  EXPECT_EQ(drained(linked), (std::vector<void*>{&a, &b, &c}));
  EXPECT_EQ(linked.size(), 0u);
}

TEST(Chain, CanBeFilledAgainAfterItWasEmptied) {
  cell a, b;
  chain linked;
  linked.push_back(&a);
  EXPECT_EQ(linked.pop_front(), &a);
  linked.push_back(&b);
  EXPECT_EQ(drained(linked), std::vector<void*>{&b});
}

TEST(Chain, SpliceMovesAllBlocksBehindTheLast) {
  cell a, b, c;
  chain first, second, none;
  first.push_back(&a);
  second.push_back(&b);
  second.push_back(&c);
  first.splice_back(second);
  first.splice_back(none);
  EXPECT_TRUE(second.empty());
  EXPECT_EQ(first.size(), 3u);
  none.splice_back(first);
  EXPECT_TRUE(first.empty());
  EXPECT_EQ(drained(none), (std::vector<void*>{&a, &b, &c}));
}

}  // namespace
}  // namespace mallard
