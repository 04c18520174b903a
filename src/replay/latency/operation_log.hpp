// operation_log: times of single operations while they are taken, in memory of the harness's own.
//
//     add --> a histogram for each kind of operation     all times so far; take() reads them out and clears
//     them
//        \--> [ lowest | lowest | ... ]                  by op, 4 bytes each: over all passes so far
//
// Two cache lines an operation beside the trace's: one of the list, which is written in order, and one of the
// histogram. Times of more than 2^32 - 1 ticks (a second and more) count as that. Everything is mapped in
// before the allocator exists.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <span>

#include "harness/mapping.hpp"
#include "harness/operation_clock.hpp"
#include "mallard/core/attributes.hpp"
#include "replay/latency/duration_histogram.hpp"
#include "replay/latency/latencies.hpp"
#include "replay/trace/op.hpp"

namespace mallard::replay {

class operation_log {
 public:
  // Of these ops, by this clock.
  operation_log(std::span<const op> ops, const harness::operation_clock& clock)
      : ops_(ops),
        clock_(clock),
        memory_(sizeof(histograms) + ops.size() * sizeof(std::uint32_t), harness::fill::before_use),
        histograms_(::new(memory_.data()) histograms{}),
        lowest_(static_cast<std::uint32_t*>(static_cast<void*>(histograms_ + 1)), ops.size()) {
    forget_lowest();
  }

  // One time of the op at this index; `apart` are the ticks between the readings around it.
  MALLARD_INLINE void add(std::size_t index, std::uint64_t apart) noexcept {
    const auto ticks = static_cast<std::uint32_t>(std::min<std::uint64_t>(clock_.net(apart), most));
    histogram_of(ops_[index].kind).add(ticks);
    lowest_[index] = std::min(lowest_[index], ticks);
  }

  // From here on the lowest times count anew.
  void forget_lowest() noexcept { std::ranges::fill(lowest_, most); }

  // Puts the percentiles of all times since the last take() into `which` of each kind, ns.
  void take(latencies& into, percentiles latency_figures::* which) noexcept {
    for (const operation o : all_operations)
      into[o].*which = percentiles_of((*histograms_)[static_cast<std::size_t>(o)]);
    clear();
  }

  // The same of the lowest time of each op, and which are the worst, if they took any time; counts the
  // operations. To be called after a whole pass.
  void take_lowest(latencies& into) noexcept {
    clear();
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      if (ops_[i].kind == op_kind::resized_from) continue;
      histogram_of(ops_[i].kind).add(lowest_[i]);
      consider(into, i);
    }
    for (const operation o : all_operations)
      into[o].count = (*histograms_)[static_cast<std::size_t>(o)].count();
    take(into, &latency_figures::minimum);
  }

 private:
  using histograms = std::array<duration_histogram, all_operations.size()>;
  static constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max();

  [[nodiscard]] MALLARD_INLINE duration_histogram& histogram_of(op_kind kind) noexcept {
    return (*histograms_)[static_cast<std::size_t>(operation_of(kind))];
  }

  void clear() noexcept {
    for (duration_histogram& h : *histograms_) h.clear();
  }

  [[nodiscard]] percentiles percentiles_of(const duration_histogram& h) const noexcept {
    const auto part = [&](unsigned of_10000) { return clock_.ns(h.percentile(of_10000)); };
    return {part(5000), part(9000), part(9900), part(9990), part(9999), clock_.ns(h.longest())};
  }

  // Puts the op among the worst if it is one of them; of equals the earlier ones stay.
  void consider(latencies& into, std::size_t index) const noexcept {
    if (lowest_[index] == 0) return;
    const double ns = clock_.ns(lowest_[index]);
    const std::span<slow_operation> worst(into.worst);
    const bool full = into.worst_count == worst.size();
    if (full && ns <= worst.back().ns) return;
    std::size_t place = full ? worst.size() - 1 : into.worst_count++;
    for (; place != 0 && worst[place - 1].ns < ns; --place) worst[place] = worst[place - 1];
    worst[place] = {.op = index, .ns = ns};
  }

  std::span<const op> ops_;
  harness::operation_clock clock_;
  harness::scratch memory_;
  histograms* histograms_;           // in memory_
  std::span<std::uint32_t> lowest_;  // in memory_, ticks
};

}  // namespace mallard::replay
