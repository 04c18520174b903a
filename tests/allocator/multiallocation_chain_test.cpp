#include "mallard/allocator/multiallocation_chain.hpp"

#include <gtest/gtest.h>

#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

namespace mallard {
namespace {

struct node {
  long words[3];
};
using nodes = multiallocation_chain<node>;
static_assert(std::forward_iterator<nodes::iterator>);
static_assert(std::is_nothrow_move_constructible_v<nodes> && !std::is_copy_constructible_v<nodes>);

std::vector<node*> of(nodes& c) {
  std::vector<node*> all;
  for (auto it = c.begin(); it != c.end(); ++it) all.push_back(&*it);
  EXPECT_EQ(all.size(), c.size());
  return all;
}

using order = std::vector<node*>;

TEST(MultiallocationChain, KeepsTheOrderOfBothEnds) {
  node a, b, c;
  nodes linked;
  EXPECT_TRUE(linked.empty());
  EXPECT_TRUE(linked.begin() == linked.end());
  linked.push_back(&b);
  linked.push_back(&c);
  linked.push_front(&a);
  EXPECT_EQ(of(linked), (order{&a, &b, &c}));
  EXPECT_EQ(&*linked.last(), &c);
  EXPECT_EQ(std::next(linked.before_begin()), linked.begin());
  EXPECT_EQ(linked.pop_front(), &a);
  EXPECT_EQ(of(linked), (order{&b, &c}));
}

TEST(MultiallocationChain, TheLastOfNoneIsTheBeginOfAll) {
  nodes none;
  EXPECT_EQ(none.last(), none.before_begin());
}

TEST(MultiallocationChain, AMovedChainLeavesNothingBehind) {
  node a, b;
  nodes linked;
  linked.push_back(&a);
  nodes moved(std::move(linked));
  EXPECT_TRUE(linked.empty());  // NOLINT(bugprone-use-after-move): it is the subject
  linked.push_back(&b);
  moved = std::move(linked);
  EXPECT_EQ(of(moved), order{&b});
  EXPECT_TRUE(linked.empty());  // NOLINT(bugprone-use-after-move): it is the subject
}

TEST(MultiallocationChain, ObjectsAreBuiltInItsBlocksOneAfterTheOther) {
  node a, b;
  nodes linked;
  linked.push_back(&a);
  linked.push_back(&b);
  nodes::iterator it = linked.begin();
  linked.clear();
  order built;
  for (int i = 0; i < 2; ++i) {
    node* const place = it.operator->();
    ++it;
    built.push_back(::new (static_cast<void*>(place)) node{{-1, -1, -1}});
  }
  EXPECT_EQ(built, (order{&a, &b}));
  EXPECT_TRUE(linked.empty());
}

TEST(MultiallocationChain, TheEndHasTheAddressOfNothing) {
  nodes none;
  node* const nowhere = &*none.end();
  EXPECT_EQ(none.end().operator->(), nullptr);
  none.incorporate_after(none.last(), nowhere, nowhere, 0);
  EXPECT_TRUE(none.empty());
}

TEST(MultiallocationChain, WhatWasForgottenIsTakenInAgain) {
  node a, b, c;
  nodes linked;
  for (node* p : {&a, &b}) linked.push_back(p);
  const auto [first, last] = linked.extract_data();
  EXPECT_TRUE(linked.empty());
  EXPECT_EQ(first, &a);
  EXPECT_EQ(last, &b);
  linked.push_back(&c);
  linked.incorporate_after(linked.before_begin(), first, last, 2);
  EXPECT_EQ(of(linked), (order{&a, &b, &c}));
  linked.incorporate_after(linked.before_begin(), nullptr, nullptr, 0);
  EXPECT_EQ(linked.size(), 3u);
}

TEST(MultiallocationChain, WhatWasForgottenIsTakenInBehindTheLast) {
  node a, b;
  nodes linked;
  linked.push_back(&a);
  linked.incorporate_after(linked.last(), &b, &b, 1);
  EXPECT_EQ(of(linked), (order{&a, &b}));
  EXPECT_EQ(&*linked.last(), &b);
}

TEST(MultiallocationChain, EndsOfNoneAreNull) {
  nodes none;
  EXPECT_EQ(none.extract_data(), nodes::pointer_pair(nullptr, nullptr));
}

TEST(MultiallocationChain, RunsMoveFromOneToAnother) {
  node a, b, c, d;
  nodes from;
  nodes to;
  for (node* p : {&a, &b, &c}) from.push_back(p);
  to.push_back(&d);
  to.splice_after(to.before_begin(), from, from.before_begin(), std::next(from.begin()), 2);
  EXPECT_EQ(of(to), (order{&a, &b, &d}));
  EXPECT_EQ(of(from), order{&c});
  to.splice_after(to.last(), from, from.before_begin(), from.last(), 1);
  EXPECT_EQ(of(to), (order{&a, &b, &d, &c}));
  EXPECT_TRUE(from.empty());
  to.splice_after(to.before_begin(), from, from.before_begin(), from.last(), 0);
  EXPECT_EQ(to.size(), 4u);
}

}  // namespace
}  // namespace mallard
