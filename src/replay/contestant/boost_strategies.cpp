#include <boost/container/pmr/monotonic_buffer_resource.hpp>
#include <boost/container/pmr/synchronized_pool_resource.hpp>
#include <boost/container/pmr/unsynchronized_pool_resource.hpp>

#include "replay/contestant/boost_dlmalloc.hpp"
#include "replay/contestant/polymorphic.hpp"
#include "replay/contestant/strategy.hpp"
#include "replay/run/run.hpp"

namespace mallard::replay {
namespace {

template <class Resource, pass_end End = pass_end::nothing>
constexpr auto run_boost = run<polymorphic<boost::container::pmr::memory_resource, Resource, End>>;

}  // namespace

std::vector<strategy> boost_strategies() {
  namespace pmr = boost::container::pmr;
  std::vector<strategy> list{
      {"boost.monotonic", binding::pmr, "Boost's monotonic_buffer_resource, released after each pass",
       run_boost<pmr::monotonic_buffer_resource, pass_end::release>},
      {"boost.pool", binding::pmr, "Boost's unsynchronized_pool_resource",
       run_boost<pmr::unsynchronized_pool_resource>},
      {"boost.sync_pool", binding::pmr, "Boost's synchronized_pool_resource",
       run_boost<pmr::synchronized_pool_resource>},
  };
  for (strategy& s : list) {
    s.beneath = untrimmed_malloc();
    s.most_align = pmr::memory_resource::max_align;  // above, 1.74's monotonic throws, its pools misalign
  }
  list.push_back({"boost.dlmalloc", binding::typed,
                  "the malloc that Boost.Container's allocators are made of", run<boost_dlmalloc>});
  return list;
}

}  // namespace mallard::replay
