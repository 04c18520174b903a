#include "mallard/core/tree_node.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <string>

namespace mallard {
namespace {

struct named : tree_node {
  explicit named(char n) : name(n) {}
  char name;
};

constexpr auto all = [](tree_node&) { return true; };

// The names below `root`, in the order of a walk.
template <class IsReached>
std::string walked(tree_node& root, IsReached is_reached) {
  std::string names;
  root.for_each_below(is_reached, [&](tree_node& n) { names += static_cast<named&>(n).name; });
  return names;
}

//     root --> a --> c, d
//          --> b --> e
class TreeNode : public testing::Test {
 protected:
  TreeNode() {
    root_.adopt(a_);
    root_.adopt(b_);
    a_.adopt(c_);
    a_.adopt(d_);
    b_.adopt(e_);
  }

  named root_{'r'}, a_{'a'}, b_{'b'}, c_{'c'}, d_{'d'}, e_{'e'};
};

TEST_F(TreeNode, WalksChildrenFirstAndTheYoungestOfThem) {
  EXPECT_EQ(walked(root_, all), "ebdca");
  EXPECT_EQ(walked(a_, all), "dc");
  EXPECT_EQ(walked(c_, all), "");
}

TEST_F(TreeNode, DoesNotWalkBelowWhatIsNotReached) {
  EXPECT_EQ(walked(root_, [&](tree_node& n) { return &n != &b_; }), "dca");
  EXPECT_EQ(walked(root_, [&](tree_node& n) { return &n != &d_; }), "ebca");
  EXPECT_EQ(walked(root_, [](tree_node&) { return false; }), "");
}

TEST_F(TreeNode, WhatIsVisitedMayLeave) {
  std::string names;
  root_.for_each_below(all, [&](tree_node& n) {
    EXPECT_FALSE(n.has_children()) << "those below it were visited before";
    names += static_cast<named&>(n).name;
    n.leave();
  });
  EXPECT_EQ(names, "ebdca");
  EXPECT_FALSE(root_.has_children());
}

TEST_F(TreeNode, LeavesFromAnyPlaceWithWhatIsBelow) {
  named f('f');
  root_.adopt(f);
  b_.leave();
  EXPECT_EQ(b_.parent(), nullptr);
  EXPECT_FALSE(root_.validate());
  EXPECT_EQ(walked(root_, all), "fdca");
  EXPECT_EQ(walked(b_, all), "e");
  f.leave();
  a_.leave();
  EXPECT_FALSE(root_.has_children());
  root_.adopt(b_);
  EXPECT_EQ(b_.parent(), &root_);
  EXPECT_EQ(walked(root_, all), "eb");
}

TEST_F(TreeNode, ARootHasNothingToLeave) {
  root_.leave();
  EXPECT_EQ(walked(root_, all), "ebdca");
}

TEST(TreeNodeAlone, WalksAMillionGenerations) {
  std::deque<named> line;
  line.emplace_back('0');
  for (int i = 1; i < 1'000'000; ++i) {
    line.emplace_back('0');
    line[line.size() - 2].adopt(line.back());
  }
  std::size_t visited = 0;
  line.front().for_each_below(all, [&](tree_node& n) {
    n.leave();
    ++visited;
  });
  EXPECT_EQ(visited, line.size() - 1);
}

}  // namespace
}  // namespace mallard
