#include "allocplus/pools/population.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <set>
#include <vector>

namespace mallard::bench {
namespace {

// Keeps who is alive, and who died, in order; nothing is used again.
struct register_of_nodes {
  std::deque<node> room;
  std::set<node*> alive;
  std::vector<node*> born;
  std::vector<node*> died;
  std::function<void()> on_death = [] {};
};

struct registered {
  register_of_nodes* into;

  void begin() const { EXPECT_TRUE(into->alive.empty()); }

  node* take() {
    node* const n = &into->room.emplace_back();
    into->alive.insert(n);
    into->born.push_back(n);
    return n;
  }
  void give(node* n) {
    EXPECT_EQ(into->alive.erase(n), 1u);
    into->died.push_back(n);
    into->on_death();
  }
};

std::vector<node*> list_from(node* n) {
  std::vector<node*> found;
  for (; n != nullptr; n = n->next) found.push_back(n);
  return found;
}

TEST(Population, FillsAListAndEmptiesItInOrder) {
  register_of_nodes all;
  population nodes(registered{&all}, 50);
  nodes.fill();
  EXPECT_EQ(list_from(all.born.front()), all.born);
  for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(all.born[i]->value, i);
  for (std::size_t i = 1; i < 50; ++i) EXPECT_EQ(all.born[i]->previous, all.born[i - 1]);
  nodes.end_in_order();
  EXPECT_EQ(all.died, all.born);
  EXPECT_TRUE(all.alive.empty());
}

TEST(Population, EndsAtRandomInTheSameOrderEachTime) {
  register_of_nodes all;
  population nodes(registered{&all}, 50);
  const auto order = [&](auto free) {
    all.born.clear();
    all.died.clear();
    nodes.fill();
    free();
    EXPECT_TRUE(all.alive.empty());
    std::vector<std::uint64_t> values;
    for (const node* n : all.died) values.push_back(n->value);
    return values;
  };
  const auto first = order([&] { nodes.end_at_random(); });
  EXPECT_FALSE(std::ranges::is_sorted(first));
  EXPECT_EQ(std::set(first.begin(), first.end()).size(), 50u);
  EXPECT_EQ(order([&] { nodes.end_at_random(); }), first);
  EXPECT_EQ(order([&] { nodes.free_at_random(); }), first);
}

TEST(Population, ErasesAtRandomFromAListThatStaysWhole) {
  register_of_nodes all;
  population nodes(registered{&all}, 50);
  nodes.fill();
  node* const before_all = all.born.front()->previous;
  std::size_t checked = 0;
  all.on_death = [&] {
    const std::vector<node*> left = list_from(before_all->next);
    EXPECT_EQ(std::set(left.begin(), left.end()), all.alive);
    for (std::size_t i = 1; i < left.size(); ++i) EXPECT_EQ(left[i]->previous, left[i - 1]);
    ++checked;
  };
  nodes.erase_at_random();
  EXPECT_EQ(checked, 50u);
  EXPECT_FALSE(std::ranges::is_sorted(all.died, {}, &node::value));
}

TEST(Population, TurnsOverNineOfTenAndLinksTheNewOnesBehindTheOthers) {
  register_of_nodes all;
  population nodes(registered{&all}, 50);
  nodes.fill();
  const std::vector<node*> before = all.born;
  nodes.turn_over();
  EXPECT_EQ(nodes.turned_over(), 45u);
  EXPECT_EQ(all.died.size(), 45u);
  EXPECT_EQ(all.alive.size(), 50u);
  std::vector<node*> expected;
  std::ranges::copy_if(before, std::back_inserter(expected), [&](node* n) { return all.alive.contains(n); });
  ASSERT_EQ(expected.size(), 5u);
  expected.insert(expected.end(), all.born.begin() + 50, all.born.end());
  EXPECT_EQ(list_from(expected.front()), expected);
  nodes.walk();
  nodes.walk_added();
  nodes.end_in_order();
  EXPECT_TRUE(all.alive.empty());
}

TEST(Population, RenewsNineOfTenInTheirPlaces) {
  register_of_nodes all;
  population nodes(registered{&all}, 50);
  nodes.fill();
  const std::vector<node*> before = all.born;
  nodes.renew();
  EXPECT_EQ(all.died.size(), 45u);
  const std::vector<node*> now = list_from(all.alive.contains(before[0]) ? before[0] : all.born[50]);
  ASSERT_EQ(now.size(), 50u);
  auto came = all.born.begin() + 50;
  for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(now[i], all.alive.contains(before[i]) ? before[i] : *came++);
  nodes.walk();
  nodes.end_in_order();
  EXPECT_TRUE(all.alive.empty());
}

}  // namespace
}  // namespace mallard::bench
