#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/heap/synchronized_multipool.hpp"
#include "replay/contestant/heap.hpp"
#include "replay/run.hpp"
#include "replay/strategy.hpp"

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
  add<multipool_over_monotonic, heap_end::clear>(list, "pools over one monotonic, cleared after each pass");
  add<synchronized_multipool, heap_end::nothing>(list, "multipool for many threads, each with a cache");
  return list;
}

}  // namespace mallard::replay
