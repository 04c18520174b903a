#include <mutex>

#include "common/columns.hpp"
#include "mallard/core/light_mutex.hpp"
#include "mallard/heap/synchronized_pool.hpp"
#include "mallard/layer/locked.hpp"
#include "p0089/contention/contention.hpp"
#include "p0089/contention/counting_mutex.hpp"

namespace mallard::bench {
namespace {

// Each thread has a heap of its own in each pass. Of malloc there is one however many lives it has.
struct in_heaps_of_their_own {
  static constexpr bool winks_out = false;

  template <class Binding>
  static void typed(destruction, page& p) {
    measure_contention(p, [](std::uint64_t pairs, std::size_t size) {
      Binding binding;
      typename Binding::life life(binding);
      run_pairs(life, pairs, size);
    });
    p.state = harness::work_state::done;
  }
  template <class Maker>
  static void pmr(destruction, page& p) {
    measure_contention(p, [](std::uint64_t pairs, std::size_t size) {
      Maker maker;
      pmr_binding binding{&maker};
      pmr_binding::life life(binding);
      run_pairs(life, pairs, size);
    });
    p.state = harness::work_state::done;
  }
};

struct in_one_heap {
  static constexpr bool winks_out = false;

  template <class Binding>
  static void typed(destruction, page& p) {
    Binding binding;
    measure(binding, p);
  }
  template <class Maker>
  static void pmr(destruction, page& p) {
    Maker maker;
    pmr_binding binding{&maker};
    measure(binding, p);
  }

 private:
  template <class Binding>
  static void measure(Binding& binding, page& p) {
    const lock_counts before = lock_counts_of_process();
    {
      typename Binding::life life(binding);
      measure_contention(p, [&](std::uint64_t pairs, std::size_t size) { run_pairs(life, pairs, size); });
    }
    if (const lock_counts found = lock_counts_of_process() - before; found.attempts > 0)
      p.failed_locks = static_cast<double>(found.failures) / static_cast<double>(found.attempts);
    p.state = harness::work_state::done;
  }
};

using locked_multipool = locked<multipool, counting_mutex<std::mutex>>;
using counted_multipool =
    basic_synchronized_multipool<default_source, synchronized_multipool_classes, multipool_growth,
                                 multipool_run_growth, counting_mutex<light_mutex>>;
using counted_pool = basic_synchronized_pool<default_source, pool_growth, counting_mutex<light_mutex>>;

std::vector<measured_allocator> all() {
  std::vector<measured_allocator> list;
  add_papers<in_heaps_of_their_own>(list);
  add_mallocs<in_heaps_of_their_own>(list);
  add_unsynchronised<in_heaps_of_their_own>(list);
  add_synchronised<in_one_heap, counted_multipool>(list);
  add_typed<in_one_heap, typed_binding<counted_multipool>>(list, "synchronized_multipool");
  add_typed<in_one_heap, typed_binding<counted_pool>>(list, "synchronized_pool");
  add_typed<in_one_heap, typed_binding<locked_multipool>>(list, "locked multipool");
  return list;
}

}  // namespace

std::span<const measured_allocator> contention_allocators() {
  static const std::vector<measured_allocator> list = all();
  return list;
}

}  // namespace mallard::bench
