// watched_call: one op of a trace, with a reading before and after what the allocator does.
// latency_run: the job of timing the operations of a trace so, one by one, in the worker.
//
//     op, slot read --> before() [ allocator.allocate ] after() --> touch, slot written
//
//     pin --> cold pass --> K passes --> percentiles, the ten worst --> a pass that counts their page faults
//
// As in pass.hpp, but with nothing of the pass between the readings. Where the binding is typed, the heap's
// code stands there inlined.
//
// Memory of its own: 4 bytes an op and histograms, mapped in when it is made, before the allocator is.
// Cost: some 50 ns an operation and pass beside the operation itself.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "harness/memory_meter.hpp"
#include "harness/operation_clock.hpp"
#include "mallard/core/attributes.hpp"
#include "replay/latency/latencies.hpp"
#include "replay/latency/operation_log.hpp"
#include "replay/run/pass.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::replay {

// How far the two readings are apart; nothing if the allocator refused. Precondition: not the second half of
// a reallocate.
template <block_allocator C>
MALLARD_NOINLINE std::optional<std::uint64_t> watched_call(C& c, const op* o, void** slots, touch touched,
                                                           const harness::operation_meter& meter) {
  void*& slot = slots[o->slot];
  void* const old = slot;
  std::uint64_t apart = 0;
  const auto watch = [&](auto call) {
    const std::uint64_t before = meter.before();
    void* const p = call();
    apart = meter.after() - before;
    return p;
  };
  switch (o->kind) {
    case op_kind::allocate:
      slot = watch([&] { return c.allocate(*o); });
      break;
    case op_kind::allocate_aligned:
      slot = watch([&] { return c.allocate_aligned(*o); });
      break;
    case op_kind::allocate_zeroed:
      slot = watch([&] { return allocate_zeroed(c, *o); });
      break;
    case op_kind::reallocate:
      slot = watch([&] { return c.reallocate(old, o[0], o[1]); });
      break;
    case op_kind::deallocate:
    case op_kind::resized_from:
      watch([&] {
        c.deallocate(old, *o);
        return old;
      });
      return apart;
  }
  if (slot == nullptr) return std::nullopt;
  if (touched == touch::all)
    touch_block<touch::all>(slot, o->size);
  else
    touch_block<touch::first>(slot, o->size);
  return apart;
}

// What is asked for, and what came out; in the job.
struct latency_task {
  std::uint64_t passes = 0;  // behind the cold one; 0: none of this
  harness::operation_clock clock;
  latencies found;
};

class latency_run {
 public:
  latency_run(const trace& t, latency_task& task)
      : ops_(t.recorded_ops()), all_(t.facts().ops), task_(task), log_(ops_, task.clock) {}

  // The index of the op that could not be served, or the number of ops: the task is done. `replay`(from, to)
  // replays ops without timing and returns the same, or `to`.
  template <block_allocator C, class Replay>
  std::size_t run(C& c, void** slots, touch touched, Replay replay) {
    task_.found = {};
    task_.found.pinned = harness::stay_on_this_cpu();
    std::size_t stop = pass(c, slots, touched, replay);
    log_.take(task_.found, &latency_figures::cold);
    log_.forget_lowest();
    for (std::uint64_t i = 0; i < task_.passes && stop == all_; ++i) stop = pass(c, slots, touched, replay);
    if (stop != all_) return stop;
    log_.take(task_.found, &latency_figures::raw);
    log_.take_lowest(task_.found);
    return count_faults(c, slots, touched, replay);
  }

 private:
  template <block_allocator C, class Replay>
  std::size_t pass(C& c, void** slots, touch touched, Replay replay) {
    const harness::operation_meter meter = task_.clock.meter();
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      if (ops_[i].kind == op_kind::resized_from) continue;
      const auto apart = watched_call(c, &ops_[i], slots, touched, meter);
      if (!apart) return i;
      log_.add(i, *apart);
    }
    return end_pass(c, ops_.size(), replay);
  }

  // Not in the passes that are timed: to ask takes longer than most operations.
  template <block_allocator C, class Replay>
  std::size_t count_faults(C& c, void** slots, touch touched, Replay replay) {
    const std::span<slow_operation> worst = std::span(task_.found.worst).first(task_.found.worst_count);
    std::array<slow_operation*, latencies::most_worst> pointers{};
    const auto by_op = std::span(pointers).first(worst.size());
    std::ranges::transform(worst, by_op.begin(), [](slow_operation& s) { return &s; });
    std::ranges::sort(by_op, {}, &slow_operation::op);
    const harness::operation_meter faults(harness::page_faults);
    std::size_t at = 0;
    for (slow_operation* const slow : by_op) {
      if (const std::size_t stop = replay(at, slow->op); stop != slow->op) return stop;
      const auto during = watched_call(c, &ops_[slow->op], slots, touched, faults);
      if (!during) return slow->op;
      slow->faults = *during;
      at = slow->op + 1;
    }
    return end_pass(c, at, replay);
  }

  // What is left of a pass.
  template <block_allocator C, class Replay>
  std::size_t end_pass(C& c, std::size_t from, Replay replay) {
    const std::size_t stop = replay(from, all_);
    if (stop == all_) c.end_pass();
    return stop;
  }

  std::span<const op> ops_;  // that are timed
  std::size_t all_;
  latency_task& task_;
  operation_log log_;
};

}  // namespace mallard::replay
