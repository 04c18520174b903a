#include "mallard/layer/nested.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

#include "mallard/core/growth.hpp"
#include "mallard/heap/adaptive_pool.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/heap/pool.hpp"
#include "mallard/heap/synchronized_pool.hpp"
#include "mallard/source/default_source.hpp"

namespace mallard {
namespace {

using member = nested<basic_monotonic<shared_upstream<default_source>, doubling<4096, 65536>>>;
using nested_multipool = nested<basic_multipool<shared_upstream<default_source>>>;

static_assert(nestable<member> && clearable<member> && rewindable<member> && layered<member> &&
              resizable<member> && owning<member> && inspectable<member> && predictable<member>);
static_assert(nestable<nested_multipool> && burst<nested_multipool>);
static_assert(std::is_same_v<member::upstream_type, default_source>);
static_assert(!std::is_copy_constructible_v<member> && !std::is_move_constructible_v<member>);
static_assert(sizeof(member) <= sizeof(basic_monotonic<default_source>) + 6 * sizeof(void*),
              "four links, where the upstream is, and the way of nesting");

constexpr auto ends = nesting::ends_with_parent;
constexpr auto is_cleared = nesting::cleared_with_parent;

// What is not constructible over a parent's upstream is only a root.
using nested_pool = nested<basic_pool<shared_upstream<default_source>>>;
using nested_adaptive_pool = nested<basic_adaptive_pool<shared_upstream<default_source>>>;
static_assert(nestable<nested_pool> && nestable<nested_adaptive_pool>);
static_assert(!nestable<nested<basic_synchronized_pool<shared_upstream<default_source>>>>);

template <class Pool>
void children_take_their_first_size() {
  auto root = std::make_unique<Pool>(48u);
  Pool child(*root, nesting::cleared_with_parent);
  EXPECT_EQ(root->allocate(40, 8).size, 48u);
  EXPECT_EQ(child.allocate(100, 8).size, 104u);
  root->release();
  EXPECT_EQ(child.usage().held, 0u);
  EXPECT_EQ(child.allocate(200, 8).size, 200u);
  root.reset();
  EXPECT_TRUE(child.ended());
  EXPECT_FALSE(child.allocate(200, 8));
}

TEST(Nested, PoolsThatAreChildrenTakeTheSizeOfTheirFirstRequest) {
  children_take_their_first_size<nested_pool>();
  children_take_their_first_size<nested_adaptive_pool>();
}

TEST(Nested, AFamilyHasOneUpstream) {
  member root;
  member child(root, ends);
  member grandchild(child, ends);
  EXPECT_EQ(root.parent(), nullptr);
  EXPECT_EQ(grandchild.parent(), &child);
  EXPECT_EQ(&grandchild.upstream(), &root.upstream());
  ASSERT_TRUE(root.allocate(100, 8) && child.allocate(100, 8) && grandchild.allocate(100, 8));
  EXPECT_EQ(root.upstream().held(), 3u * 4096);
  EXPECT_EQ(child.usage().held, 4096u) << "of this member";
}

TEST(Nested, AParentsEndEndsAllBelow) {
  auto root = std::make_unique<member>();
  member sibling(*root, is_cleared);
  member child(*root, ends);
  member grandchild(child, ends);
  for (member* m : {root.get(), &sibling, &child, &grandchild}) ASSERT_TRUE(m->allocate(5000, 8));
  root.reset();
  for (member* m : {&sibling, &child, &grandchild}) {
    EXPECT_TRUE(m->ended());
    EXPECT_EQ(m->parent(), nullptr);
    EXPECT_EQ(m->usage().held, 0u);
    EXPECT_FALSE(m->allocate(1, 1));
    EXPECT_FALSE(m->allocate(5000, 8));
    EXPECT_FALSE(m->validate());
    m->clear();
    m->release();
  }
}

TEST(Nested, AChildMayEndBetweenItsParentAndItsOwnChild) {
  member root;
  auto child = std::make_unique<member>(root, ends);
  member grandchild(*child, ends);
  ASSERT_TRUE(grandchild.allocate(1, 1));
  child.reset();
  EXPECT_TRUE(grandchild.ended());
  EXPECT_FALSE(root.ended());
  EXPECT_EQ(root.upstream().held(), 0u);
  EXPECT_TRUE(root.allocate(1, 1));
  EXPECT_FALSE(root.validate());
}

TEST(Nested, AChildOfWhatHasEndedIsBornEnded) {
  auto root = std::make_unique<member>();
  member child(*root, ends);
  root.reset();
  member late(child, is_cleared);
  EXPECT_TRUE(late.ended());
  EXPECT_EQ(late.parent(), nullptr);
  EXPECT_FALSE(late.allocate(1, 1));
}

TEST(Nested, ClearTakesTheChildrenThatAreClearedWithIt) {
  member root;
  member kept(root, ends);
  member below_kept(kept, is_cleared);
  member cleared(root, is_cleared);
  member below_cleared(cleared, is_cleared);
  member kept_below_cleared(cleared, ends);
  for (member* m : {&kept, &below_kept, &cleared, &below_cleared, &kept_below_cleared, &root})
    std::memset(m->allocate(100, 1).data, 1, 100);
  root.clear();
  for (const member* m : {&root, &cleared, &below_cleared}) EXPECT_EQ(m->usage().granted, 0u);
  for (const member* m : {&kept, &below_kept, &kept_below_cleared}) EXPECT_EQ(m->usage().granted, 100u);
  for (member* m : {&root, &cleared, &below_cleared}) {
    EXPECT_FALSE(m->ended());
    EXPECT_TRUE(m->allocate(100, 1)) << "it goes on";
  }
}

TEST(Nested, ReleaseTakesThemToo) {
  member root;
  member kept(root, ends);
  member released(root, is_cleared);
  for (member* m : {&root, &kept, &released}) ASSERT_TRUE(m->allocate(100, 1));
  root.release();
  EXPECT_EQ(root.upstream().held(), 4096u) << "the chunk of the child that stays";
  EXPECT_EQ(kept.usage().granted, 100u);
  EXPECT_TRUE(released.allocate(1, 1));
}

TEST(Nested, RewindLeavesChildrenAsTheyAre) {
  member root;
  const auto mark = root.mark();
  member child(root, is_cleared);
  ASSERT_TRUE(root.allocate(10, 1) && child.allocate(100, 1));
  root.rewind(mark);
  EXPECT_EQ(root.usage().granted, 0u);
  EXPECT_EQ(child.usage().granted, 100u);
}

TEST(Nested, AChildInMemoryOfItsParentEndsWithIt) {
  member root;
  {
    member middle(root, ends);
    auto* inside = ::new (middle.allocate(sizeof(member), alignof(member)).data) member(middle, ends);
    ASSERT_TRUE(inside->allocate(5000, 8));
    EXPECT_EQ(root.upstream().held(), 3u * 4096);
  }
  EXPECT_EQ(root.upstream().held(), 0u);
  EXPECT_FALSE(root.validate());
}

TEST(Nested, AHundredThousandGenerationsEndAtOnce) {
  auto root = std::make_unique<member>();
  std::vector<std::unique_ptr<member>> line;
  for (int i = 0; i < 100'000; ++i)
    line.push_back(std::make_unique<member>(line.empty() ? *root : *line.back(), is_cleared));
  ASSERT_TRUE(line.back()->allocate(1, 1));
  root->clear();
  EXPECT_EQ(line.back()->usage().granted, 0u);
  root.reset();
  EXPECT_TRUE(line.back()->ended());
  EXPECT_TRUE(line.front()->ended());
}

TEST(Nested, AHeapThatReusesEndsAsWell) {
  auto root = std::make_unique<nested_multipool>();
  nested_multipool child(*root, is_cleared);
  const block freed = child.allocate(48, 8);
  child.deallocate(freed.data, 48, 8);
  root->clear();
  EXPECT_EQ(child.usage().granted, 0u);
  ASSERT_TRUE(child.allocate(48, 8) && child.allocate(100'000, 8));
  root.reset();
  EXPECT_FALSE(child.allocate(48, 8)) << "its free lists are gone";
  EXPECT_FALSE(child.allocate(100'000, 8));
}

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
