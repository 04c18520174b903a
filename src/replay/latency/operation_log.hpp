// operation_log: times of single operations while they are taken, in memory that several workers share.
//
//     [ histograms: cold | warm | lowest lowest ... ]
//       one for each kind of operation   by op, 4 bytes each: over all warm passes so far
//
// Workers add to it one after another; the last one takes the figures out. Two cache lines an operation
// beside the trace's: one of the list, which is written in order, and one of the histogram. Times of more
// than 2^32 - 1 ticks (a second and more) count as that.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <span>

#include "harness/operation_clock.hpp"
#include "mallard/core/attributes.hpp"
#include "replay/latency/duration_histogram.hpp"
#include "replay/latency/latencies.hpp"
#include "replay/trace/op.hpp"

namespace mallard::replay {

class operation_log {
  using histograms = std::array<duration_histogram, all_operations.size()>;

 public:
  // Bytes of memory for so many ops.
  [[nodiscard]] static constexpr std::size_t bytes_for(std::size_t ops) noexcept {
    return 2 * sizeof(histograms) + ops * sizeof(std::uint32_t);
  }

  // Of these ops, by this clock, in memory for them that is aligned to a page.
  operation_log(void* memory, std::span<const op> ops, const harness::operation_clock& clock) noexcept
      : ops_(ops),
        clock_(clock),
        cold_(static_cast<histograms*>(memory)),
        warm_(cold_ + 1),
        lowest_(static_cast<std::uint32_t*>(static_cast<void*>(warm_ + 1)), ops.size()) {}

  // No operation was timed yet. To be called once for the memory.
  void begin() noexcept {
    ::new (cold_) histograms{};
    ::new (warm_) histograms{};
    std::ranges::fill(lowest_, most);
  }

  // One time of the op at this index, in a cold pass or another; `apart` are the ticks between the readings.
  MALLARD_INLINE void add_cold(std::size_t index, std::uint64_t apart) noexcept {
    histogram_of(cold_, index).add(ticks_of(apart));
  }
  MALLARD_INLINE void add(std::size_t index, std::uint64_t apart) noexcept {
    const std::uint32_t ticks = ticks_of(apart);
    histogram_of(warm_, index).add(ticks);
    lowest_[index] = std::min(lowest_[index], ticks);
  }

  // The figures of all that was added: every op must have been. The worst are those with the longest of the
  // lowest times, if that is above 0; of equals the earlier ones. The log is spent.
  [[nodiscard]] latencies take() noexcept {
    latencies found;
    take(cold_, found, &latency_figures::cold);
    take(warm_, found, &latency_figures::raw);
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      if (ops_[i].kind == op_kind::resized_from) continue;
      histogram_of(warm_, i).add(lowest_[i]);
      consider(found, i);
    }
    for (const operation o : all_operations) found[o].count = (*warm_)[static_cast<std::size_t>(o)].count();
    take(warm_, found, &latency_figures::minimum);
    return found;
  }

 private:
  static constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max();

  [[nodiscard]] MALLARD_INLINE std::uint32_t ticks_of(std::uint64_t apart) const noexcept {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(clock_.net(apart), most));
  }

  [[nodiscard]] MALLARD_INLINE duration_histogram& histogram_of(histograms* of,
                                                                std::size_t index) const noexcept {
    return (*of)[static_cast<std::size_t>(operation_of(ops_[index].kind))];
  }

  // Percentiles of each kind, ns; the histograms are empty then.
  void take(histograms* from, latencies& into, percentiles latency_figures::* which) const noexcept {
    for (const operation o : all_operations) {
      duration_histogram& h = (*from)[static_cast<std::size_t>(o)];
      const auto part = [&](unsigned of_10000) { return clock_.ns(h.percentile(of_10000)); };
      into[o].*which = {part(5000), part(9000), part(9900), part(9990), part(9999), clock_.ns(h.longest())};
      h.clear();
    }
  }

  // Puts the op among the worst if it is one of them.
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
  histograms* cold_;
  histograms* warm_;
  std::span<std::uint32_t> lowest_;  // ticks
};

}  // namespace mallard::replay
