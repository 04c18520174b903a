// The benchmark of pools, small: what its allocators are and measure, and what is known of their memory.
#include "allocplus/pools/pools.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/container/detail/dlmalloc.hpp>
#include <boost/pool/pool_alloc.hpp>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "allocplus/pools/population.hpp"
#include "harness/foreign_malloc.hpp"

namespace mallard::bench {
namespace {

constexpr std::size_t needed = 0;
constexpr std::size_t in_use = 5;
constexpr std::uint64_t node_bytes = 24;

setting of(pools_work work, std::uint32_t elements, std::uint32_t iterations) {
  setting asked;
  asked.which = benchmark::pools;
  asked.pools = {work, elements, iterations};
  return asked;
}

// What each allocator found, by its label.
std::map<std::string, page> run_all(const setting& asked) {
  std::map<std::string, page> found;
  for (const measured_allocator& c : pool_allocators()) {
    page p(asked);
    c.run(p);
    if (p.state == harness::work_state::unfinished) ADD_FAILURE() << c.name();
    for (std::size_t i = 0; p.state == harness::work_state::done && i < figures_of(asked.pools).size(); ++i)
      EXPECT_GT(p.found[i].warm_ns, 0) << c.name() << " " << i;
    EXPECT_TRUE(found.emplace(c.label, p).second) << c.label;
  }
  return found;
}

TEST(Pools, ComparesTheSeedsEightAllocatorsAndOthers) {
  std::set<std::string> found;
  for (const measured_allocator& c : pool_allocators()) found.insert(c.label);
  for (const std::string family : {"pool", "locked_pool", "sync_pool", "adaptive", "adaptive_two_percent",
                                   "locked_adaptive", "sync_adaptive", "best_fit", "boost",
                                   "boost.align_only", "boost.two_percent", "boost.node", "boost.private"})
    for (const char* version : {".V1", ".V2"}) EXPECT_TRUE(found.contains(family + version)) << family;
  for (const char* other : {"none", "boost.fast_pool", "boost.fast_pool.null", "boost.pool", "std.pool",
                            "glibc", "jemalloc", "tcmalloc", "mimalloc"})
    EXPECT_TRUE(found.contains(other)) << other;
  EXPECT_EQ(pool_allocators().front().label, "pool.V1");
}

TEST(Pools, KnowsWhatRangesLeaveInUse) {
  constexpr std::uint32_t nodes = 4000;
  const auto found = run_all(of(pools_work::ranges, 100, nodes / 100));
  for (const auto& [label, p] : found) {
    EXPECT_EQ(p.state, harness::work_state::done) << label;
    EXPECT_EQ(p.counted[needed], nodes * node_bytes) << label;
  }
  for (const char* version : {".V1", ".V2"}) {
    // A block of somebody else's may keep what is behind it and too small to be a block.
    EXPECT_LT(found.at(std::string("boost") + version).counted[in_use], node_bytes);
    for (const std::string keeps : {"boost.node", "pool", "locked_pool", "sync_pool"})
      EXPECT_GE(found.at(keeps + version).counted[in_use], nodes * node_bytes) << keeps << version;
    for (const std::string two_blocks : {"boost.align_only", "boost.two_percent", "boost.private"}) {
      EXPECT_GT(found.at(two_blocks + version).counted[in_use], 0u) << two_blocks << version;
      EXPECT_LT(found.at(two_blocks + version).counted[in_use], 3u * 8192) << two_blocks << version;
    }
  }
  if (!harness::malloc_is_a_sanitizers()) {  // which does not tell what is in use
    EXPECT_GE(found.at("boost.fast_pool").counted[in_use], nodes * node_bytes);
  }
  for (const char* untold : {"none", "jemalloc", "tcmalloc", "mimalloc"})
    EXPECT_EQ(found.at(untold).counted[in_use], not_counted) << untold;
}

TEST(Pools, MeasuresSingleNodes) {
  for (const auto& [label, p] : run_all(of(pools_work::nodes, 1000, 1))) {
    EXPECT_EQ(p.state, harness::work_state::done) << label;
    EXPECT_EQ(p.counted[needed], 1000 * node_bytes) << label;
  }
}

// A singleton of Boost's is identified by the size of its nodes: purging another one would leave these.
TEST(Pools, GivesBackThePoolThatItsNodesWereIn) {
  const std::size_t before = boost::container::dlmalloc_allocated_memory();
  for (const setting& asked : {of(pools_work::ranges, 100, 10), of(pools_work::nodes, 1000, 1)}) {
    run_all(asked);
    EXPECT_EQ(boost::container::dlmalloc_allocated_memory(), before);
    using boost::default_user_allocator_new_delete;
    using boost::fast_pool_allocator_tag;
    EXPECT_FALSE((boost::singleton_pool<fast_pool_allocator_tag, node_bytes,
                                        default_user_allocator_new_delete, std::mutex, 32>::purge_memory()));
    EXPECT_FALSE(
        (boost::singleton_pool<fast_pool_allocator_tag, node_bytes, default_user_allocator_new_delete,
                               boost::details::pool::null_mutex, 32>::purge_memory()));
  }
}

TEST(Pools, RunsThreadsWhereTheyCanShareOrHaveTheirOwn) {
  for (const auto& [label, p] : run_all(of(pools_work::threads, 200, 2))) {
    const bool alone = label == "boost.fast_pool.null";
    EXPECT_EQ(p.state, alone ? harness::work_state::unavailable : harness::work_state::done) << label;
    EXPECT_EQ(p.found[0].wall_ns.has_value(), !alone) << label;
  }
}

// Keeps what is alive, and what died, in order; nothing is used again.
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
