#include "harness/allocator/own_heaps.hpp"
#include "replay/allocator/own_heap.hpp"
#include "replay/allocator/strategy.hpp"
#include "replay/run/run.hpp"

namespace mallard::replay {

std::vector<strategy> own_strategies() {
  std::vector<strategy> list;
  harness::for_each_own_heap([&]<class Line>(Line line) {
    if constexpr (Line::replay != harness::in_replay::no) {
      using heap = typename Line::type;
      constexpr bool cleared = Line::replay == harness::in_replay::cleared;
      list.push_back({std::string(Line::name), binding::typed, line.summary, run<typed_heap<heap, cleared>>});
      list.push_back({std::string(Line::name), binding::pmr, line.summary, run<pmr_heap<heap, cleared>>});
    }
  });
  return list;
}

}  // namespace mallard::replay
