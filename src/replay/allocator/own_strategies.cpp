#include "harness/allocator/on_source.hpp"
#include "harness/allocator/own_heaps.hpp"
#include "harness/shifted_pages.hpp"
#include "replay/allocator/own_heap.hpp"
#include "replay/allocator/strategy.hpp"
#include "replay/run/run.hpp"

namespace mallard::replay {
namespace {

// A heap over its usual source or, where its start is shifted, if only by 0, over pages that shift.
template <template <class, bool> class Bound, class Heap, bool Cleared>
void run_own(const trace& t, job& j) {
  harness::shifted_pages::shift = j.shift;
  if (j.shifts)
    run<Bound<harness::on_source<Heap, counting<harness::shifted_pages>>, Cleared>>(t, j);
  else
    run<Bound<Heap, Cleared>>(t, j);
}

}  // namespace

std::vector<strategy> own_strategies() {
  std::vector<strategy> list;
  harness::for_each_own_heap([&]<class Line>(Line line) {
    if constexpr (Line::replay != harness::in_replay::no) {
      using heap = typename Line::type;
      constexpr bool cleared = Line::replay == harness::in_replay::cleared;
      list.push_back(
          {std::string(Line::name), binding::typed, line.summary, run_own<typed_heap, heap, cleared>});
      list.push_back({std::string(Line::name), binding::pmr, line.summary, run_own<pmr_heap, heap, cleared>});
    }
  });
  return list;
}

}  // namespace mallard::replay
