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

TEST(Chain, TakesInWhatIsLinkedAlready) {
  cell a, b, c;
  chain linked;
  for (cell* p : {&a, &b, &c}) linked.push_back(p);
  chain first_two(&a, &b, 2);  // the link of the last one is not read
  EXPECT_EQ(drained(first_two), (std::vector<void*>{&a, &b}));
  EXPECT_TRUE(chain(&a, &b, 0).empty());
}

TEST(Chain, SplicesBehindAnyPlace) {
  cell a, b, c, d;
  chain linked;
  const auto insert = [&linked](chain::node* place, cell* p) {
    chain one;
    one.push_back(p);
    linked.splice_after(place, one);
    EXPECT_TRUE(one.empty());
  };
  insert(linked.before_front(), &b);
  insert(linked.before_front(), &a);
  insert(static_cast<chain::node*>(linked.back()), &d);
  insert(static_cast<chain::node*>(chain::next(&a)), &c);
  EXPECT_EQ(linked.back(), &d);
  chain none;
  linked.splice_after(linked.before_front(), none);
  EXPECT_EQ(drained(linked), (std::vector<void*>{&a, &b, &c, &d}));
}

TEST(Chain, GivesOutAnyRun) {
  cell a, b, c, d;
  chain linked;
  for (cell* p : {&a, &b, &c, &d}) linked.push_back(p);
  EXPECT_TRUE(linked.take_after(linked.before_front(), nullptr, 0).empty());
  chain middle = linked.take_after(static_cast<chain::node*>(linked.front()), &c, 2);
  EXPECT_EQ(drained(middle), (std::vector<void*>{&b, &c}));
  chain end = linked.take_after(static_cast<chain::node*>(linked.front()), &d, 1);
  EXPECT_EQ(drained(end), std::vector<void*>{&d});
  EXPECT_EQ(linked.back(), &a);
  chain all = linked.take_after(linked.before_front(), &a, 1);
  EXPECT_EQ(drained(all), std::vector<void*>{&a});
  EXPECT_TRUE(linked.empty());
  linked.push_back(&b);
  EXPECT_EQ(linked.front(), &b);
}

}  // namespace
}  // namespace mallard
