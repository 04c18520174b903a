// watched_call: one op of a trace, with a reading before and after what the allocator does.
// latency_run: the job of timing the operations of a trace so, one by one, in the worker.
//
//     op, slot read --> before() [ allocator.allocate ] after() --> touch, slot written
//
//     turn 1..5, a process each:   pin --> cold pass --> some of the K passes, after each the slowest again
//     the last one:                --> percentiles, the ten worst --> a pass that counts their page faults
//
// As in pass.hpp, but with nothing of the pass between the readings. Where the binding is typed, the heap's
// code stands there inlined.
//
// Where a process's memory lies decides which of its lines meet in a cache, for as long as it lives; so the
// passes are divided among several processes. Times are kept in a log that outlives them (operation_log.hpp),
// mapped in before the allocator exists. On a busy machine some operation is disturbed in each of the K
// passes. So those that seem slowest so far are timed a few times more after each pass, amid others that are
// not timed; that takes a fraction of a pass. Cost: some 50 ns an operation and pass beside the operation
// itself.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "harness/mapping.hpp"
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

// Processes that the passes are shared out to, if there are as many.
inline constexpr std::uint64_t latency_turns = 5;

// How many operations, those that seem slowest, are timed again after each pass, and how often.
inline constexpr std::size_t latency_timed_again = 128;
inline constexpr std::size_t latency_times_again = 4;

// What is asked for, and what came out; in the job.
struct latency_task {
  // In.
  std::uint64_t passes = 0;  // of all turns, without the cold ones
  std::uint64_t turns = 1;   // at most as many as passes
  std::uint64_t turn = 0;    // from 0 on
  int log = -1;              // descriptor of the file that the turns share, of operation_log::bytes_for(ops)
  harness::operation_clock clock;

  // Out: whether the worker stayed on one CPU; in the last turn, what all of them found.
  bool pinned = false;
  latencies found;

  [[nodiscard]] bool is_last() const { return turn + 1 == turns; }
  [[nodiscard]] std::uint64_t passes_of_turn() const {
    return passes / turns + (turn < passes % turns ? 1 : 0);
  }
};

class latency_run {
 public:
  latency_run(const trace& t, latency_task& task)
      : ops_(t.recorded_ops()),
        all_(t.facts().ops),
        task_(task),
        file_(task.log, harness::access::read_write),
        log_(file_.data(), ops_, task.clock) {}

  // The index of the op that could not be served, or the number of ops: the task is done. `replay`(from, to)
  // replays ops without timing and returns the same, or `to`.
  template <block_allocator C, class Replay>
  std::size_t run(C& c, void** slots, touch touched, Replay replay) {
    task_.pinned = harness::stay_on_this_cpu();
    if (task_.turn == 0) log_.begin();
    std::size_t stop = pass(c, slots, touched, replay,
                            [this](std::size_t i, std::uint64_t apart) { log_.add_cold(i, apart); });
    for (std::uint64_t k = 0; k < task_.passes_of_turn() && stop == all_; ++k) {
      stop =
          pass(c, slots, touched, replay, [this](std::size_t i, std::uint64_t apart) { log_.add(i, apart); });
      if (stop == all_) stop = time_slowest(c, slots, touched, replay);
    }
    if (stop != all_ || !task_.is_last()) return stop;
    task_.found = log_.take();
    return count_faults(c, slots, touched, replay);
  }

 private:
  template <block_allocator C, class Replay, class Add>
  std::size_t pass(C& c, void** slots, touch touched, Replay replay, Add add) {
    const harness::operation_meter meter = task_.clock.meter();
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      if (ops_[i].kind == op_kind::resized_from) continue;
      const auto apart = watched_call(c, &ops_[i], slots, touched, meter);
      if (!apart) return i;
      add(i, *apart);
    }
    return end_pass(c, ops_.size(), replay);
  }

  template <block_allocator C, class Replay>
  std::size_t time_slowest(C& c, void** slots, touch touched, Replay replay) {
    std::array<std::uint64_t, latency_timed_again> room{};
    const std::span<const std::uint64_t> slowest = log_.slowest(room);
    std::size_t stop = all_;
    for (std::size_t n = 0; n != latency_times_again && stop == all_; ++n)
      stop = pass_of(slowest, c, slots, touched, replay, task_.clock.meter(),
                     [this](std::size_t i, std::uint64_t apart) { log_.add_to_lowest(i, apart); });
    return stop;
  }

  // Not in the passes that are timed: to ask takes longer than most operations.
  template <block_allocator C, class Replay>
  std::size_t count_faults(C& c, void** slots, touch touched, Replay replay) {
    const std::span<slow_operation> worst = std::span(task_.found.worst).first(task_.found.worst_count);
    std::array<std::uint64_t, latencies::most_worst> room{};
    const auto by_op = std::span(room).first(worst.size());
    std::ranges::transform(worst, by_op.begin(), &slow_operation::op);
    std::ranges::sort(by_op);
    return pass_of(by_op, c, slots, touched, replay, harness::operation_meter(harness::page_faults),
                   [&](std::size_t i, std::uint64_t faults) {
                     std::ranges::find(worst, i, &slow_operation::op)->faults = faults;
                   });
  }

  // A pass in which only these ops are watched, which are in the order of the trace: record(op, apart).
  template <block_allocator C, class Replay, class Record>
  std::size_t pass_of(std::span<const std::uint64_t> watched, C& c, void** slots, touch touched,
                      Replay replay, const harness::operation_meter& meter, Record record) {
    std::size_t at = 0;
    for (const std::uint64_t next : watched) {
      if (const std::size_t stop = replay(at, next); stop != next) return stop;
      const auto apart = watched_call(c, &ops_[next], slots, touched, meter);
      if (!apart) return next;
      record(next, *apart);
      at = next + 1;
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
  harness::shared_file file_;
  operation_log log_;  // in file_
};

}  // namespace mallard::replay
