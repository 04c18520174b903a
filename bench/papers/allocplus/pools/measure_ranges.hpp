// measure_ranges: the seed's test of pools: ranges that a list takes in and gives up, the memory that they
// take, and what is left of it.
#pragma once

#include "allocplus/burst/measure_burst.hpp"
#include "allocplus/pools/memory_book.hpp"
#include "allocplus/pools/pool_node.hpp"

namespace mallard::bench {

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

}  // namespace mallard::bench
