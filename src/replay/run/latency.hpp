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

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "harness/mapping.hpp"
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

// How the operations of one allocator are timed.
struct latency_calls {
  // watched_call of the allocator.
  std::function<std::optional<std::uint64_t>(const op*, const harness::operation_meter&)> watch;
  // Performs ops [from, to) without timing them; the index of the one that could not be served, or `to`.
  std::function<std::size_t(std::size_t from, std::size_t to)> replay;
  std::function<void()> end_pass;
};

class latency_run {
 public:
  latency_run(const trace& t, latency_task& task);

  // The index of the op that could not be served, or the number of ops: the task is done.
  [[nodiscard]] std::size_t run(const latency_calls& calls);

 private:
  // What to do with the two readings' distance at an op.
  using record = std::function<void(std::size_t index, std::uint64_t apart)>;

  std::size_t pass(const latency_calls& calls, const record& add);
  std::size_t time_slowest(const latency_calls& calls);
  std::size_t count_faults(const latency_calls& calls);
  std::size_t pass_of(std::span<const std::uint64_t> watched, const latency_calls& calls,
                      const harness::operation_meter& meter, const record& add);
  std::size_t end_pass(const latency_calls& calls, std::size_t from);

  std::span<const op> ops_;  // that are timed
  std::size_t all_;
  latency_task& task_;
  harness::shared_file file_;
  operation_log log_;  // in file_
};

}  // namespace mallard::replay
