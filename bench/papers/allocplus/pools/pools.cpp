#include "allocplus/pools/pools.hpp"

#include <concepts>
#include <nlohmann/json.hpp>

#include "allocplus/allocplus_bindings.hpp"
#include "allocplus/floors.hpp"
#include "allocplus/pools/pool_bindings.hpp"
#include "mallard/heap/adaptive_pool.hpp"
#include "mallard/heap/pool.hpp"
#include "mallard/heap/synchronized_adaptive_pool.hpp"
#include "mallard/heap/synchronized_pool.hpp"

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

namespace {

using locked_pool = locked<pool>;

// With sub-blocks, as the seed's second adaptive pool.
using adaptive_pool_in_pieces =
    basic_adaptive_pool<default_source, slab_form<nodes_per_block, free_blocks_in_proportion, 2>>;

struct pools_in {
  // What is turned over has died, but a floor keeps its places until all are free.
  static std::size_t live_bytes(const page& p) {
    const pools_setting& asked = p.asked.pools;
    const std::size_t ranges = asked.work == pools_work::ranges ? asked.iterations : 2;
    return (std::size_t{asked.elements} * ranges + hot_nodes) * sizeof(node);
  }

  template <class Binding>
  static void measure(Binding& binding, page& p) {
    switch (p.asked.pools.work) {
      case pools_work::ranges:
        return measure_ranges(binding, p);
      case pools_work::nodes:
        return measure_nodes(binding, p);
      case pools_work::threads:
        return measure_threads(binding, live_bytes(p), p);
    }
  }
};

template <class Binding>
void run_pools(page& p) {
  if (Binding::shared == sharing::none && p.asked.pools.work == pools_work::threads)
    return p.refuse(harness::work_state::unavailable, "one for the process, without a lock");
  run_in<pools_in, Binding>(p);
}

// A list's ranges come in bursts, single nodes one by one.
void run_floor(page& p) {
  if (p.asked.pools.work == pools_work::ranges)
    run_pools<pool_binding<2, places_in_row>>(p);
  else
    run_pools<pool_binding<2, places_anew>>(p);
}

class builder {
 public:
  template <class Binding>
  void add(const char* label, const char* strategy) {
    list_.push_back({label, strategy, binding::typed, destruction::normal, run_pools<Binding>});
  }

  void add_floor() {
    list_.push_back({"none", floor_strategy, binding::typed, destruction::normal, run_floor});
  }

  template <heap Heap>
  void add_heap(const std::string& label, const char* strategy) {
    add<pool_binding<1, Heap>>((label + ".V1").c_str(), strategy);
    add<pool_binding<2, Heap>>((label + ".V2").c_str(), strategy);
  }

  template <template <unsigned> class Of, sharing Shared = sharing::all>
  void add_boost(const std::string& label, const char* strategy) {
    add<boost_pool_binding<1, Of<1>, Shared>>((label + ".V1").c_str(), strategy);
    add<boost_pool_binding<2, Of<2>, Shared>>((label + ".V2").c_str(), strategy);
  }

  template <class Beneath>
  void add_malloc(const char* name) {
    list_.push_back({name, name, binding::malloc, destruction::normal, run_pools<malloc_binding<Beneath>>,
                     harness::find_foreign_malloc(name)});
  }

  [[nodiscard]] std::vector<measured_allocator> list() && { return std::move(list_); }

 private:
  std::vector<measured_allocator> list_;
};

template <unsigned Version>
using align_only = boost_adaptive<0, Version>;
template <unsigned Version>
using two_percent = boost_adaptive<2, Version>;
template <unsigned Version>
using private_two_percent = boost_private_adaptive<2, Version>;

std::vector<measured_allocator> all() {
  builder b;
  b.add_heap<pool>("pool", "pool");
  b.add_floor();
  b.add_heap<locked_pool>("locked_pool", "locked pool");
  b.add_heap<synchronized_pool>("sync_pool", "synchronized_pool");
  b.add_heap<adaptive_pool>("adaptive", "adaptive_pool");
  b.add_heap<adaptive_pool_in_pieces>("adaptive_two_percent", "adaptive_pool in pieces");
  b.add_heap<shared_adaptive_pool>("locked_adaptive", "shared_adaptive_pool");
  b.add_heap<synchronized_adaptive_pool>("sync_adaptive", "synchronized_adaptive_pool");
  b.add_heap<best_fit>("best_fit", "best_fit");
  b.add_boost<boost_plain>("boost", "boost");
  b.add_boost<align_only>("boost.align_only", "boost.adaptive_pool");
  b.add_boost<two_percent>("boost.two_percent", "boost.adaptive_pool");
  b.add_boost<private_two_percent, sharing::own>("boost.private", "boost.private_adaptive_pool");
  b.add_boost<boost_node>("boost.node", "boost.node_allocator");
  b.add<fast_pool_binding<std::mutex>>("boost.fast_pool", "boost.fast_pool_allocator");
  b.add<fast_pool_binding<boost::details::pool::null_mutex>>("boost.fast_pool.null",
                                                             "boost.fast_pool_allocator");
  b.add<boost_resource_binding>("boost.pool", "boost.pool");
  b.add<std_resource_binding>("std.pool", "std.pool");
  b.add_malloc<glibc_beneath>("glibc");
  for (const char* name : {"jemalloc", "tcmalloc", "mimalloc"}) b.add_malloc<unknown_beneath>(name);
  return std::move(b).list();
}

}  // namespace

std::span<const measured_allocator> pool_allocators() {
  static const std::vector<measured_allocator> list = all();
  return list;
}

}  // namespace mallard::bench
