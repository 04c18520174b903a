#include "replay/run/latency.hpp"

#include <algorithm>
#include <array>

#include "harness/memory_meter.hpp"

namespace mallard::replay {

latency_run::latency_run(const trace& t, latency_task& task)
    : ops_(t.recorded_ops()),
      all_(t.facts().ops),
      task_(task),
      file_(task.log, harness::access::read_write),
      log_(file_.data(), ops_, task.clock) {}

std::size_t latency_run::run(const latency_calls& calls) {
  task_.pinned = harness::stay_on_this_cpu();
  if (task_.turn == 0) log_.begin();
  std::size_t stop = pass(calls, [this](std::size_t i, std::uint64_t apart) { log_.add_cold(i, apart); });
  for (std::uint64_t k = 0; k < task_.passes_of_turn() && stop == all_; ++k) {
    stop = pass(calls, [this](std::size_t i, std::uint64_t apart) { log_.add(i, apart); });
    if (stop == all_) stop = time_slowest(calls);
  }
  if (stop != all_ || !task_.is_last()) return stop;
  task_.found = log_.take();
  return count_faults(calls);
}

std::size_t latency_run::pass(const latency_calls& calls, const record& add) {
  const harness::operation_meter meter = task_.clock.meter();
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    if (ops_[i].kind == op_kind::resized_from) continue;
    const auto apart = calls.watch(&ops_[i], meter);
    if (!apart) return i;
    add(i, *apart);
  }
  return end_pass(calls, ops_.size());
}

std::size_t latency_run::time_slowest(const latency_calls& calls) {
  std::array<std::uint64_t, latency_timed_again> room{};
  const std::span<const std::uint64_t> slowest = log_.slowest(room);
  std::size_t stop = all_;
  for (std::size_t n = 0; n != latency_times_again && stop == all_; ++n)
    stop = pass_of(slowest, calls, task_.clock.meter(),
                   [this](std::size_t i, std::uint64_t apart) { log_.add_to_lowest(i, apart); });
  return stop;
}

// Not in the passes that are timed: to ask takes longer than most operations.
std::size_t latency_run::count_faults(const latency_calls& calls) {
  const std::span<slow_operation> worst = std::span(task_.found.worst).first(task_.found.worst_count);
  std::array<std::uint64_t, latencies::most_worst> room{};
  const auto by_op = std::span(room).first(worst.size());
  std::ranges::transform(worst, by_op.begin(), &slow_operation::op);
  std::ranges::sort(by_op);
  return pass_of(by_op, calls, harness::operation_meter(harness::page_faults),
                 [&](std::size_t i, std::uint64_t faults) {
                   std::ranges::find(worst, i, &slow_operation::op)->faults = faults;
                 });
}

// A pass in which only these ops are watched, which are in the order of the trace.
std::size_t latency_run::pass_of(std::span<const std::uint64_t> watched, const latency_calls& calls,
                                 const harness::operation_meter& meter, const record& add) {
  std::size_t at = 0;
  for (const std::uint64_t next : watched) {
    if (const std::size_t stop = calls.replay(at, next); stop != next) return stop;
    const auto apart = calls.watch(&ops_[next], meter);
    if (!apart) return next;
    add(next, *apart);
    at = next + 1;
  }
  return end_pass(calls, at);
}

// What is left of a pass.
std::size_t latency_run::end_pass(const latency_calls& calls, std::size_t from) {
  const std::size_t stop = calls.replay(from, all_);
  if (stop == all_) calls.end_pass();
  return stop;
}

}  // namespace mallard::replay
