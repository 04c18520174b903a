#include "harness/allocator/on_source.hpp"
#include "harness/shifted_pages.hpp"
#include "mallard/heap/reap.hpp"
#include "mallard/heap/region.hpp"
#include "mallard/heap/region_emulator.hpp"
#include "mallard/heap/sized_reap.hpp"
#include "mallard/source/default_source.hpp"
#include "replay/allocator/none.hpp"
#include "replay/allocator/strategy.hpp"
#include "replay/region/foreign_regions.hpp"
#include "replay/region/nested_regions.hpp"
#include "replay/run/run.hpp"

namespace mallard::replay {
namespace {

// A heap of ours over its usual source or, where its start is shifted, if only by 0, over pages that shift.
template <class Heap>
void run_nested(const trace& t, job& j) {
  harness::shifted_pages::shift = j.shift;
  if (j.shifts)
    run<nested_regions<harness::on_source<Heap, counting<harness::shifted_pages>>>>(t, j);
  else
    run<nested_regions<Heap>>(t, j);
}

// A library's regions, over a malloc that keeps what they give back, as our own heaps do.
template <class Regions>
strategy foreign_regions(const char* name, binding bound, const char* summary,
                         std::size_t most_align = max_request) {
  return {name, bound, summary, run<Regions>, harness::untrimmed_malloc(), most_align};
}

}  // namespace

std::vector<strategy> region_strategies() {
  std::vector<strategy> list{
      {"none", binding::typed, "the baseline: places computed beforehand", run<region_none>}};
  for (const harness::foreign_malloc& m : harness::foreign_mallocs())
    list.push_back(
        {"region_emulator/" + std::string(m.name), binding::malloc,
         "a pointer kept to each block of " + std::string(m.name) + ", freed one by one at the end",
         run<nested_regions<region_emulator>>, &m});
  list.push_back(foreign_regions<obstack_regions>("obstack", binding::typed, "obstacks of the C library",
                                                  obstack_regions::most_align));
  list.push_back(foreign_regions<apr_regions>("apr", binding::typed, "pools of the Apache Portable Runtime",
                                              apr_regions::most_align));
  list.push_back(foreign_regions<talloc_regions>(
      "talloc", binding::typed, "chunks of talloc, blocks freed one by one too", talloc_regions::most_align));
  list.push_back(foreign_regions<monotonic_regions>("std.monotonic", binding::pmr,
                                                    "a std::pmr::monotonic_buffer_resource a region"));
  list.push_back(
      {"region", binding::typed, "blocks side by side in chunks, ended together", run_nested<region>});
  list.push_back(
      {"reap", binding::typed, "a region that frees single blocks by their pointer", run_nested<reap>});
  list.push_back(
      {"sized_reap", binding::typed, "the same without headers: sizes come back", run_nested<sized_reap>});
  return list;
}

}  // namespace mallard::replay
