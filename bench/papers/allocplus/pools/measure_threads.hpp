// measure_threads: threads that each fill a list and empty it, all at the same time.
//
//     thread 1   | fill | empty | fill | empty | ...        of one pool that has a lock or caches,
//     thread 2   | fill | empty | fill | empty | ...        or each of its own, which has neither
//
// An event is a node of any thread, allocated and freed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "allocplus/pools/pool_node.hpp"
#include "allocplus/pools/population.hpp"
#include "common/meter.hpp"
#include "common/page.hpp"
#include "common/race.hpp"

namespace mallard::bench {

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
