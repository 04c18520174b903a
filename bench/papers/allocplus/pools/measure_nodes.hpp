// measure_nodes: single nodes on a fresh process: what they cost cold and warm, in order and at random, and
// how they lie after nine of ten were others.
//
//     1  fill (cold), all freed in order, twice 5  fill, renewed in their places, walk, all freed in order
//     2  fill, walk, all freed in order         6  fill, all erased from the list in random order
//     3  a short list, again and again          7  fill, all read and freed in random order
//     4  fill, turned over at the end, walks,   8  fill, all freed in random order
//        all freed in order                     9  what is left, and what can be given back
//
// The first walk is over a list as it was filled. Those over what was turned over and renewed pass survivors
// as well, one in ten, which no allocator can move; how much of a walk they are, `none` tells, where nothing
// is ever used again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "allocplus/pools/memory_book.hpp"
#include "allocplus/pools/pool_node.hpp"
#include "allocplus/pools/population.hpp"
#include "common/meter.hpp"
#include "common/page.hpp"
#include "harness/cpu_clock.hpp"

namespace mallard::bench {

inline constexpr std::size_t hot_nodes = 64;
inline constexpr std::uint64_t walks = 3;  // of each list

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
    for (std::uint64_t i = 0; i < walks; ++i) sum += one();
    found(sum, walks * passed);
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

}  // namespace mallard::bench
