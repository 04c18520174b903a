#include "harness/allocator/foreign_resources.hpp"
#include "replay/allocator/mallocs.hpp"
#include "replay/allocator/pmr_resource.hpp"
#include "replay/allocator/strategy.hpp"
#include "replay/run/run.hpp"

namespace mallard::replay {

std::vector<strategy> foreign_strategies() {
  std::vector<strategy> list;
  for (const harness::foreign_malloc& m : harness::foreign_mallocs())
    list.push_back({std::string(m.name), binding::malloc, std::string(m.summary), run<process_malloc>, &m});
  harness::for_each_foreign_resource([&]<class Resource>(harness::foreign_resource<Resource> line) {
    list.push_back({line.name, binding::pmr, line.summary, run<pmr_resource<Resource>>,
                    harness::untrimmed_malloc(), line.most_align});
  });
  list.push_back({"boost.dlmalloc", binding::typed,
                  "the malloc that Boost.Container's allocators are made of", run<boost_dlmalloc>});
  return list;
}

}  // namespace mallard::replay
