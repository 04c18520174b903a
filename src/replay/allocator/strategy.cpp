#include "replay/allocator/strategy.hpp"

#include "harness/allocator/foreign_resources.hpp"
#include "replay/allocator/mallocs.hpp"
#include "replay/allocator/none.hpp"
#include "replay/allocator/pmr_resource.hpp"
#include "replay/run/run.hpp"

namespace mallard::replay {
namespace {

// Its blocks do not come from the malloc that run() shifts.
void run_boost_dlmalloc(const trace& t, job& j) {
  boost_dlmalloc::shift(j.shift);
  run<boost_dlmalloc>(t, j);
}

std::vector<strategy> foreign_strategies() {
  std::vector<strategy> list;
  for (const harness::foreign_malloc& m : harness::foreign_mallocs())
    list.push_back({std::string(m.name), binding::malloc, std::string(m.summary), run<process_malloc>, &m});
  harness::for_each_foreign_resource([&]<class Resource>(harness::foreign_resource<Resource> line) {
    list.push_back({line.name, binding::pmr, line.summary, run<pmr_resource<Resource>>,
                    harness::untrimmed_malloc(), line.most_align});
  });
  list.push_back({"boost.dlmalloc", binding::typed,
                  "the malloc that Boost.Container's allocators are made of", run_boost_dlmalloc});
  return list;
}

std::vector<strategy> all() {
  std::vector<strategy> list{{"none", binding::typed, "the baseline: places computed beforehand", run<none>}};
  for (auto part : {foreign_strategies, own_strategies})
    for (strategy& s : part()) list.push_back(std::move(s));
  return list;
}

}  // namespace

std::span<const strategy> strategies(subject of, bool is_part) {
  static const std::vector<strategy> for_blocks = all();
  static const std::vector<strategy> for_regions = region_strategies();
  static const std::vector<strategy> for_threads = thread_strategies();
  static const std::vector<strategy> for_parts = part_strategies();
  static const std::vector<strategy> for_parts_on_threads = thread_part_strategies();
  switch (of) {
    case subject::blocks:
      return is_part ? for_parts : for_blocks;
    case subject::regions:
      return for_regions;
    case subject::threads:
      break;
  }
  return is_part ? for_parts_on_threads : for_threads;
}

}  // namespace mallard::replay
