// Pairs of the library's own heaps, in each way in.

#include <string_view>

#include "contestants.hpp"
#include "mallard/heap/heap_name.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/heap/pool.hpp"
#include "mallard/layer/locked.hpp"
#include "mallard/resource/resource.hpp"
#include "pairs.hpp"
#include "scenarios.hpp"

namespace instructions {
namespace {

template <class Heap>
void run_time_ways(std::string_view name) {
  pairs<sized<Heap>>(name, "run-time size");
  pairs<aligned<Heap>>(name, "run-time alignment");
  pairs<sized_and_aligned<Heap>>(name, "run-time size and alignment");
}

template <class Heap>
void pairs_of() {
  constexpr std::string_view name = mallard::heap_name<Heap>;
  pairs<typed<Heap>>(name, "typed");
  run_time_ways<Heap>(name);
  pairs<virtually<mallard::resource<Heap>>>(name, "pmr");
}

}  // namespace

void own_pairs() {
  pairs<typed<none>>("none", "typed");
  run_time_ways<none>("none");
  pairs_of<mallard::monotonic>();
  pairs_of<mallard::multipool>();
  pairs_of<mallard::pool>();
  pairs_of<mallard::multipool_over_monotonic>();
  pairs<typed<mallard::locked<mallard::multipool>>>("locked multipool", "typed");
  pairs<virtually<mallard::resource<mallard::locked<mallard::multipool>>>>("locked multipool", "pmr");
}

}  // namespace instructions
