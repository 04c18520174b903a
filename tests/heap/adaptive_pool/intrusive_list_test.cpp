#include "mallard/heap/adaptive_pool/intrusive_list.hpp"

#include <gtest/gtest.h>

namespace mallard {
namespace {

struct element {
  element* newer = nullptr;
  element* older = nullptr;
};

constexpr auto any = [](const element*) { return true; };

TEST(IntrusiveList, TakesElementsOutOfAnyPlace) {
  element a, b, c;
  intrusive_list<element> list;
  for (element* e : {&a, &b, &c}) list.push_front(e);
  list.erase(&b);
  EXPECT_FALSE(list.validate(any));
  EXPECT_EQ(list.front(), &c);
  EXPECT_EQ(list.front()->older, &a);
  list.erase(&c);
  EXPECT_EQ(list.front(), &a);
  list.erase(&a);
  EXPECT_TRUE(list.empty());
}

TEST(IntrusiveList, TakesElementsAtBothEnds) {
  element a, b, c;
  intrusive_list<element> list;
  list.push_back(&b);
  list.push_front(&a);
  list.push_back(&c);
  for (element* e : {&a, &b, &c}) {
    EXPECT_FALSE(list.validate(any));
    EXPECT_EQ(list.front(), e);
    EXPECT_EQ(list.back(), &c);
    list.erase(e);
  }
  EXPECT_TRUE(list.empty());
  list.push_back(&b);
  EXPECT_EQ(list.front(), &b);
}

TEST(IntrusiveList, SeesBrokenLinksAndStrangers) {
  element a, b;
  intrusive_list<element> list;
  list.push_front(&a);
  list.push_front(&b);
  EXPECT_TRUE(list.validate([&](const element* e) { return e != &a; }));
  a.newer = nullptr;
  EXPECT_TRUE(list.validate(any));
}

}  // namespace
}  // namespace mallard
