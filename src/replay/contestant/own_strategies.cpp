#include "mallard/heap/best_fit.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/heap/reap.hpp"
#include "mallard/heap/sized_reap.hpp"
#include "mallard/heap/synchronized_multipool.hpp"
#include "replay/contestant/heap.hpp"
#include "replay/contestant/strategy.hpp"
#include "replay/run/run.hpp"

namespace mallard::replay {
namespace {

// A heap in both its bindings, under its own name.
template <class Heap, heap_end End>
void add(std::vector<strategy>& list, const char* summary) {
  list.push_back({std::string(heap_name<Heap>), binding::typed, summary, run<typed_heap<Heap, End>>});
  list.push_back({std::string(heap_name<Heap>), binding::pmr, summary, run<pmr_heap<Heap, End>>});
}

}  // namespace

std::vector<strategy> own_strategies() {
  std::vector<strategy> list;
  add<monotonic, heap_end::clear>(list, "memory that only grows, cleared after each pass");
  add<multipool, heap_end::nothing>(list, "a pool a size class, larger blocks passed through");
  add<fifo_multipool, heap_end::nothing>(list, "multipool that reuses first what was freed first");
  add<multipool_over_monotonic, heap_end::clear>(list, "pools over one monotonic, cleared after each pass");
  add<best_fit, heap_end::nothing>(list,
                                   "the best fitting free block, joined with its neighbours when freed");
  add<reap, heap_end::nothing>(list, "a region that frees single blocks, too: bumps, or best_fit");
  add<sized_reap, heap_end::nothing>(list, "the same without headers, by the sizes that come back");
  add<synchronized_multipool, heap_end::nothing>(list, "multipool for many threads, each with a cache");
  return list;
}

}  // namespace mallard::replay
