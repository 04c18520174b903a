#include <string>
#include <type_traits>
#include <vector>

#include "harness/allocator/foreign_resources.hpp"
#include "harness/allocator/own_heaps.hpp"
#include "harness/contended_mutex.hpp"
#include "replay/allocator/mallocs.hpp"
#include "replay/allocator/none.hpp"
#include "replay/allocator/own_heap.hpp"
#include "replay/allocator/pmr_resource.hpp"
#include "replay/allocator/strategy.hpp"
#include "replay/run/run_threads.hpp"

namespace mallard::replay {
namespace {

// A heap of ours with locks that count in place of its own; void where it has none to replace.
template <class Heap>
struct contention_of {
  using type = void;
};
template <class Heap>
struct contention_of<locked<Heap>> {
  using type = locked<Heap, harness::contended_mutex>;
};
template <class Upstream, class Classes, class Growth, class RunGrowth>
struct contention_of<basic_synchronized_multipool<Upstream, Classes, Growth, RunGrowth>> {
  using type = basic_synchronized_multipool<Upstream, Classes, Growth, RunGrowth, harness::contended_mutex>;
};
template <class Upstream, class Growth, std::size_t Largest>
struct contention_of<basic_synchronized_best_fit<Upstream, Growth, Largest>> {
  using type = basic_synchronized_best_fit<Upstream, Growth, Largest, harness::contended_mutex>;
};

template <class Heap>
using with_contention = typename contention_of<Heap>::type;

}  // namespace

// All that several threads may use at once.
std::vector<strategy> thread_strategies() {
  std::vector<strategy> list{
      {"none", binding::typed, "the baseline: places computed beforehand", run_threads<thread_none>}};
  for (const harness::foreign_malloc& m : harness::foreign_mallocs())
    list.push_back(
        {std::string(m.name), binding::malloc, std::string(m.summary), run_threads<process_malloc>, &m});
  harness::for_each_foreign_resource([&]<class Resource>(harness::foreign_resource<Resource> line) {
    if constexpr (harness::is_synchronised<Resource>)
      list.push_back({line.name, binding::pmr, line.summary, run_threads<pmr_resource<Resource>>,
                      harness::untrimmed_malloc(), line.most_align});
  });
  harness::for_each_own_heap([&]<class Line>(Line line) {
    using heap = typename Line::type;
    if constexpr (concurrent<heap> && !fixed_size<heap>) {
      list.push_back({std::string(Line::name), binding::typed, line.summary, run_threads<typed_heap<heap>>});
      if constexpr (!std::is_void_v<with_contention<heap>>)
        list.back().count_contention = run_threads<typed_heap<with_contention<heap>>>;
      list.push_back({std::string(Line::name), binding::pmr, line.summary, run_threads<pmr_heap<heap>>});
    }
  });
  return list;
}

}  // namespace mallard::replay
