#include "harness/foreign_malloc.hpp"
#include "mallard/heap/adaptive_pool.hpp"
#include "mallard/heap/best_fit.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/heap/pool.hpp"
#include "mallard/heap/reap.hpp"
#include "mallard/heap/region.hpp"
#include "mallard/heap/sized_reap.hpp"
#include "mallard/heap/stack_pattern.hpp"
#include "mallard/heap/synchronized_multipool.hpp"
#include "mallard/heap/synchronized_pool.hpp"
#include "mallard/heap/thread_multipool.hpp"
#include "replay/allocator/mallocs.hpp"
#include "replay/allocator/none.hpp"
#include "replay/allocator/plan_pool.hpp"
#include "replay/allocator/routed.hpp"
#include "replay/allocator/strategy.hpp"
#include "replay/run/run.hpp"
#include "replay/run/run_threads.hpp"

namespace mallard::replay {
namespace {

constexpr const char* baseline_summary = "the baseline: places computed beforehand";
constexpr const char* plan_pool_summary = "slabs of each thread's segment_heap, as a plan's pools are";

// Each malloc alone: the part's blocks go where the others go.
template <class Run>
void add_mallocs(std::vector<strategy>& list, Run* run_one) {
  for (const harness::foreign_malloc& m : harness::foreign_mallocs())
    list.push_back({std::string(m.name), binding::malloc, std::string(m.summary), run_one, &m});
}

template <heap H, ends End>
strategy own(const char* name, const char* summary) {
  return {name, binding::typed, summary, run<routed<process_malloc, part_heap<H, End>>>};
}

template <concurrent H>
strategy for_threads(const char* name, const char* summary) {
  return {name, binding::typed, summary, run_threads<routed<process_malloc, part_heap<H, ends::never>>>};
}

}  // namespace

// A heap of the kind for each number.
std::vector<strategy> part_strategies() {
  using enum ends;
  std::vector<strategy> list{{"none", binding::typed, baseline_summary, run<routed<none, none>>}};
  add_mallocs(list, run<routed<process_malloc, process_malloc>>);
  list.push_back(own<pool, never>("pool", "blocks of the largest size that it is asked for"));
  list.push_back(own<adaptive_pool, never>("adaptive_pool", "the same, giving back what becomes free"));
  list.push_back(own<multipool, never>("multipool", "a pool a size class"));
  list.push_back(own<best_fit, never>("best_fit", "the best fitting free block, joined when freed"));
  list.push_back(own<reap, when_empty>("reap", "a region that frees single blocks; released when empty"));
  list.push_back(own<sized_reap, when_empty>("sized_reap", "the same without headers"));
  list.push_back(own<monotonic, with_pass>("monotonic", "memory that only grows"));
  list.push_back(own<region, when_empty>("region", "memory that only grows, released when empty"));
  list.push_back(
      own<stack_pattern, when_empty>("stack", "frees of the top move it down; released when empty"));
  list.push_back({"segment_heap", binding::typed, plan_pool_summary, run<routed<process_malloc, plan_pool>>});
  return list;
}

std::vector<strategy> thread_part_strategies() {
  std::vector<strategy> list{
      {"none", binding::typed, baseline_summary, run_threads<routed<thread_none, thread_none>>}};
  add_mallocs(list, run_threads<routed<process_malloc, process_malloc>>);
  list.push_back(
      for_threads<synchronized_pool>("synchronized_pool", "blocks of the largest size that it is asked for"));
  list.push_back(
      for_threads<thread_multipool>("thread_multipool", "a multipool for each thread; frees return to it"));
  list.push_back(for_threads<synchronized_multipool>("synchronized_multipool",
                                                     "a multipool for all threads, each with a cache"));
  list.push_back(
      {"segment_heap", binding::typed, plan_pool_summary, run_threads<routed<process_malloc, plan_pool>>});
  return list;
}

}  // namespace mallard::replay
