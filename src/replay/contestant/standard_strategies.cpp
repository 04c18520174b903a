#include <memory_resource>

#include "replay/contestant/polymorphic.hpp"
#include "replay/contestant/strategy.hpp"
#include "replay/run/run.hpp"

namespace mallard::replay {
namespace {

template <class Resource, pass_end End = pass_end::nothing>
constexpr auto run_standard = run<polymorphic<std::pmr::memory_resource, Resource, End>>;

}  // namespace

std::vector<strategy> standard_strategies() {
  std::vector<strategy> list{
      {"std.monotonic", binding::pmr, "std::pmr::monotonic_buffer_resource, released after each pass",
       run_standard<std::pmr::monotonic_buffer_resource, pass_end::release>},
      {"std.pool", binding::pmr, "std::pmr::unsynchronized_pool_resource",
       run_standard<std::pmr::unsynchronized_pool_resource>},
      {"std.sync_pool", binding::pmr, "std::pmr::synchronized_pool_resource",
       run_standard<std::pmr::synchronized_pool_resource>},
  };
  for (strategy& s : list) s.beneath = untrimmed_malloc();
  return list;
}

}  // namespace mallard::replay
