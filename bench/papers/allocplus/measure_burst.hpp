// measure_burst: ranges that a list takes in and gives up, by one allocator, on a fresh process: the first
// list cold, the next ones warm.
#pragma once

#include <boost/container/list.hpp>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory_resource>
#include <vector>

#include "allocplus/counted_allocator.hpp"
#include "common/page.hpp"
#include "harness/cpu_clock.hpp"
#include "mallard/resource/resource.hpp"
#include "mallard/source/os_pages.hpp"

namespace mallard::bench {

inline constexpr std::uint64_t warm_lists = 3;

// What one list took.
struct list_times {
  std::uint64_t insert_ns = 0;
  std::uint64_t erase_ns = 0;
};

inline constexpr auto look_away = [](auto&) {};

// full(list) and empty(list) are called when all is inserted, and when all is erased; neither is timed.
template <class Allocator, class Full, class Empty>
list_times insert_and_erase(const Allocator& from, const burst_setting& asked, Full full, Empty empty) {
  using list = boost::container::list<my_int, Allocator>;
  resource<os_pages> pages;  // the harness's own
  std::pmr::vector<typename list::iterator> begins(&pages);
  begins.reserve(asked.iterations + 1);
  list made(from);
  const std::uint64_t start = harness::thread_cpu_ns();
  for (std::uint32_t r = 0; r != asked.iterations; ++r)
    made.insert(made.end(), asked.elements, my_int(static_cast<int>(r)));
  const std::uint64_t inserted = harness::thread_cpu_ns();
  full(made);
  begins.push_back(made.begin());
  for (std::uint32_t r = 0; r != asked.iterations; ++r)
    begins.push_back(std::next(begins.back(), asked.elements));
  const std::uint64_t known = harness::thread_cpu_ns();
  for (std::uint32_t r = 0; r != asked.iterations; ++r) made.erase(begins[r], begins[r + 1]);
  const std::uint64_t erased = harness::thread_cpu_ns();
  empty(made);
  return {inserted - start, erased - known};
}

inline figure burst_figure(const list_times& cold, const list_times& warm, std::uint64_t list_times::* part,
                           double events) {
  return {static_cast<double>(cold.*part) / events,
          static_cast<double>(warm.*part) / events / static_cast<double>(warm_lists),
          {}};
}

template <class Binding>
void measure_burst(Binding& binding, page& p) {
  const burst_setting& asked = p.asked.burst;
  const auto from = binding.template allocator_of<my_int>();
  const double events = static_cast<double>(asked.elements) * asked.iterations;
  meter memory;
  const list_times cold = insert_and_erase(from, asked, look_away, look_away);
  memory.first_is_over();
  list_times warm;
  for (std::uint64_t i = 0; i < warm_lists; ++i) {
    const list_times more = insert_and_erase(from, asked, look_away, look_away);
    warm.insert_ns += more.insert_ns;
    warm.erase_ns += more.erase_ns;
  }
  p.found[0] = burst_figure(cold, warm, &list_times::insert_ns, events);
  p.found[1] = burst_figure(cold, warm, &list_times::erase_ns, events);
  memory.write(p);
  tally counts;
  insert_and_erase(counted_allocator<my_int, Binding>(from, counts), asked, look_away, look_away);
  p.counted = {counts.allocations, counts.bursts};
}

}  // namespace mallard::bench
