#include "allocplus/pools/pools.hpp"

#include <nlohmann/json.hpp>

#include "allocplus/pools/measure_pools.hpp"

namespace mallard::bench {
namespace {

using json = nlohmann::ordered_json;

std::vector<json> parts(std::initializer_list<const char*> names) {
  std::vector<json> found;
  for (const char* name : names) found.push_back({{"part", name}});
  return found;
}

}  // namespace

json group_of(const pools_setting& asked) {
  return {{"work", name_of(asked.work)}, {"elements", asked.elements}, {"iterations", asked.iterations}};
}

std::vector<json> figures_of(const pools_setting& asked) {
  switch (asked.work) {
    case pools_work::ranges:
      return parts({"insert", "erase"});
    case pools_work::nodes:
      return parts({"first", "allocate", "walk", "free", "hot", "turn_over", "walk_turned_over", "walk_added",
                    "renew", "walk_renewed", "erase_at_random", "end_at_random", "free_at_random"});
    case pools_work::threads:
      return parts({"threads"});
  }
  return {};
}

json method_of(const pools_setting& asked) {
  json method{
      {"memory",
       "resident bytes by the page tables, less those before: all alive, all freed for the first time "
       "and for the last, and trimmed; needed: what the nodes are"}};
  switch (asked.work) {
    case pools_work::ranges:
      method["times"] = "CPU time of an element: ranges are inserted at the end of a list, then erased; " +
                        std::to_string(warm_lists) + " lists";
      method["cold"] = "the first list of a process";
      break;
    case pools_work::nodes:
      method["times"] =
          "CPU time of a node of 24 bytes, which is linked into a list, and read before it dies, but where "
          "pointers "
          "are freed at random";
      method["cold"] = "`first`: the first list of a process";
      break;
    case pools_work::threads:
      method["times"] = "time by the clock from the first of " + std::to_string(pool_threads) +
                        " threads' start to the last one's end, over the nodes of all; CPU time beside";
      method["cold"] = "the first list of each thread";
      break;
  }
  return method;
}

std::vector<std::string> counts_of(const pools_setting& asked) {
  if (asked.work == pools_work::threads) return {};
  return {"needed", "alive", "freed", "freed_again", "trimmed", "in_use", "cached"};
}

// Of any malloc, and what the harness remembers of each node.
std::uint64_t bytes_needed(const pools_setting& asked) {
  const std::uint64_t one =
      std::uint64_t{asked.elements} * (asked.work == pools_work::nodes ? 1 : asked.iterations);
  return one * (asked.work == pools_work::threads ? pool_threads : 1) * 72 + (std::uint64_t{1} << 22);
}

}  // namespace mallard::bench
