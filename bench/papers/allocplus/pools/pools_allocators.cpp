#include <concepts>

#include "allocplus/allocplus_columns.hpp"
#include "allocplus/floors.hpp"
#include "allocplus/pools/measure_pools.hpp"
#include "allocplus/pools/pool_bindings.hpp"
#include "allocplus/pools/pools.hpp"
#include "mallard/heap/adaptive_pool.hpp"
#include "mallard/heap/pool.hpp"
#include "mallard/heap/synchronized_adaptive_pool.hpp"
#include "mallard/heap/synchronized_pool.hpp"

namespace mallard::bench {
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
