// Seed 001's pools: eight allocators of nodes and others beside, their times and what they do with memory.
//
//     ranges    [n nodes][n nodes] ...   the seed's: a list takes ranges in and gives them up
//     nodes     [n][n][n][n] ...         single ones: cold, warm, at random, turned over, few; walks
//     threads                            four, each with a list
//
// An event is a node of 24 bytes. Seed 001, "Testing adaptive_pool".
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "allocplus/measure_burst.hpp"
#include "allocplus/pools/memory_book.hpp"
#include "allocplus/pools/population.hpp"
#include "common/measured_allocator.hpp"
#include "common/page.hpp"
#include "common/race.hpp"
#include "common/setting.hpp"
#include "harness/cpu_clock.hpp"

namespace mallard::bench {

[[nodiscard]] std::span<const measured_allocator> pool_allocators();

[[nodiscard]] nlohmann::ordered_json group_of(const pools_setting& asked);

// {"part": "insert"}, {"part": "erase"} of ranges, and so on.
[[nodiscard]] std::vector<nlohmann::ordered_json> figures_of(const pools_setting& asked);

// How its figures are made, beside what holds for all benchmarks.
[[nodiscard]] nlohmann::ordered_json method_of(const pools_setting& asked);

// Of memory, in bytes, in the order of page::counted.
[[nodiscard]] std::vector<std::string> counts_of(const pools_setting& asked);

[[nodiscard]] std::uint64_t bytes_needed(const pools_setting& asked);

// What pools are measured by, on a fresh process each: ranges, single nodes, threads.
//
//     measure_ranges    the seed's test: a list takes ranges in and gives them up; the memory that they take,
//                       and what is left of it
//     measure_threads   thread 1   | fill | empty | fill | ...    of one pool with a lock or caches,
//                       thread 2   | fill | empty | fill | ...    or each of its own, without
//     measure_nodes     what single nodes cost cold and warm, in order and at random, and how they lie after
//                       nine of ten were others:
//
//     1  fill (cold), all freed in order, twice 5  fill, renewed in their places, walk, all freed in order
//     2  fill, walk, all freed in order         6  fill, all erased from the list in random order
//     3  a short list, again and again          7  fill, all read and freed in random order
//     4  fill, turned over at the end, walks,   8  fill, all freed in random order
//        all freed in order                     9  what is left, and what can be given back
//
// The first walk is over a list as it was filled. Those over what was turned over and renewed pass survivors
// as well, one in ten, which no allocator can move; how much of a walk they are, `none` tells, where nothing
// is ever used again. Of threads an event is a node of any of them, allocated and freed.

template <class Binding>
void measure_ranges(Binding& binding, page& p) {
  const burst_setting asked{p.asked.pools.elements, p.asked.pools.iterations};
  const auto from = binding.template allocator_of<my_int>();
  const double events = static_cast<double>(asked.elements) * asked.iterations;
  meter memory;
  memory_book book(binding);
  const list_times cold = insert_and_erase(from, asked, [&](auto&) { book.full(); }, look_away);
  book.freed();
  memory.first_is_over();
  // What went to the system comes from there again, and warm is what does so no more.
  (void)insert_and_erase(from, asked, look_away, look_away);
  list_times warm;
  for (std::uint64_t i = 1; i <= warm_lists; ++i) {
    const auto at_end = [&](auto& list) {
      if (i == warm_lists) book.empty(list.get_stored_allocator());
    };
    const list_times more = insert_and_erase(from, asked, look_away, at_end);
    warm.insert_ns += more.insert_ns;
    warm.erase_ns += more.erase_ns;
  }
  memory.write(p);
  book.write(p, std::uint64_t{asked.elements} * asked.iterations * sizeof(node));
  p.found[0] = burst_figure(cold, warm, &list_times::insert_ns, events);
  p.found[1] = burst_figure(cold, warm, &list_times::erase_ns, events);
}

inline constexpr std::size_t hot_nodes = 64;
inline constexpr std::uint64_t walks_of_list = 3;

// A list of few nodes that is filled and emptied `times` times.
template <class Source>
std::uint64_t fill_and_empty(Source from, std::uint64_t times) {
  std::array<node*, hot_nodes> nodes{};
  const std::uint64_t start = harness::thread_cpu_ns();
  for (std::uint64_t turn = 0; turn < times; ++turn) {
    from.begin();
    for (node*& n : nodes) {
      n = from.take();
      n->value = turn;
    }
    for (node* const n : nodes) from.give(n);
  }
  return harness::thread_cpu_ns() - start;
}

// In the order of figures_of().
template <class Binding>
void measure_nodes(Binding& binding, page& p) {
  const std::size_t count = p.asked.pools.elements;
  auto from = binding.template allocator_of<node>();
  node_source<Binding> source(binding, from);
  population nodes(source, count);
  std::size_t figures = 0;
  const auto found = [&](std::uint64_t ns, std::uint64_t events) {
    p.found[figures++].warm_ns = static_cast<double>(ns) / static_cast<double>(events);
  };
  const auto walk = [&](auto one, std::size_t passed) {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < walks_of_list; ++i) sum += one();
    found(sum, walks_of_list * passed);
  };
  const auto walk_all = [&] { walk([&] { return nodes.walk(); }, count); };

  meter memory;
  memory_book book(binding);
  found(nodes.fill(), count);
  book.full();
  nodes.end_in_order();
  book.freed();
  memory.first_is_over();

  // What went to the system comes from there again, and warm is what does so no more.
  nodes.fill();
  nodes.end_in_order();

  found(nodes.fill(), count);
  walk_all();
  found(nodes.end_in_order(), count);

  const std::uint64_t times = count / hot_nodes + 1;
  found(fill_and_empty(source, times), times * hot_nodes);

  nodes.fill();
  found(nodes.turn_over(), nodes.turned_over());
  walk_all();
  walk([&] { return nodes.walk_added(); }, nodes.turned_over());
  nodes.end_in_order();

  nodes.fill();
  found(nodes.renew(), nodes.turned_over());
  walk_all();
  nodes.end_in_order();

  nodes.fill();
  found(nodes.erase_at_random(), count);

  nodes.fill();
  found(nodes.end_at_random(), count);

  nodes.fill();
  found(nodes.free_at_random(), count);
  book.empty(from);
  memory.write(p);
  book.write(p, count * sizeof(node));
}

inline constexpr std::size_t pool_threads = 4;

// One thread's: an allocator and its nodes.
template <class Binding>
class filler {
  using allocator = typename Binding::template allocator<node>;

 public:
  filler(Binding& binding, std::size_t count)
      : from_(binding.template allocator_of<node>()), nodes_(node_source<Binding>(binding, from_), count) {}

  void run(std::uint32_t times) {
    for (std::uint32_t i = 0; i < times; ++i) {
      nodes_.fill();
      nodes_.end_in_order();
    }
  }

 private:
  allocator from_;
  population<node_source<Binding>> nodes_;
};

// `binding` is what all share; where each has its own, `bytes` is what one has alive at most.
template <class Binding>
void measure_threads(Binding& binding, std::size_t bytes, page& p) {
  const std::size_t count = p.asked.pools.elements;
  std::deque<Binding> bindings;
  std::deque<filler<Binding>> fillers;
  for (std::size_t i = 0; i < pool_threads; ++i) {
    if (Binding::shared == sharing::own) bindings.emplace_back(bytes);
    fillers.emplace_back(Binding::shared == sharing::own ? bindings.back() : binding, count);
  }
  const auto run = [&](std::uint32_t times) {
    std::atomic<std::size_t> next = 0;
    return race(pool_threads, 1, [&] { fillers[next.fetch_add(1)].run(times); });
  };
  make_stacks_small();
  (void)race(pool_threads, 1, touch_stack);
  meter memory;
  const auto events = static_cast<double>(count * pool_threads);
  p.found[0].cold_ns = static_cast<double>(run(1).cpu_ns) / events;
  memory.first_is_over();
  const race_times warm = run(p.asked.pools.iterations);
  const double all = events * p.asked.pools.iterations;
  p.found[0].warm_ns = static_cast<double>(warm.cpu_ns) / all;
  p.found[0].wall_ns = static_cast<double>(warm.wall_ns) / all;
  memory.write(p);
  p.counted.fill(not_counted);
}

}  // namespace mallard::bench
