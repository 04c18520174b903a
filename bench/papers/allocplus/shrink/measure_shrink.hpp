// measure_shrink: a vector that is emptied step by step and fitted each time, in one way, on a fresh process.
#pragma once

#include <boost/container/vector.hpp>
#include <cstddef>

#include "allocplus/counted_allocator.hpp"
#include "allocplus/my_int.hpp"
#include "allocplus/passes.hpp"
#include "allocplus/shrink/shrink.hpp"
#include "contest/page.hpp"

namespace mallard::bench {

template <class Allocator>
void shrink_away(const Allocator& from, std::size_t elements) {
  boost::container::vector<my_int, Allocator> made(elements, from);
  for (std::size_t e = elements; e != 0; e -= shrink_step) {
    made.erase(made.end() - shrink_step, made.end());
    made.shrink_to_fit();
    keep(made.data());
  }
}

template <class Way>
void measure_shrink(Way& way, page& p) {
  const shrink_setting& asked = p.asked.shrink;
  const auto from = way.template allocator_of<my_int>();
  measure_passes(p, asked.elements / shrink_step, asked.iterations,
                 [&] { shrink_away(from, asked.elements); });
  tally counts;
  shrink_away(counted_allocator<my_int, Way>(from, counts), asked.elements);
  p.counted = {counts.allocations, counts.shrinks};
}

}  // namespace mallard::bench
