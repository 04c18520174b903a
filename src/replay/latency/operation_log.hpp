// operation_log: times of single operations while they are taken, in memory that several workers share.
//
//     [ histograms: cold | warm | lowest lowest ... ]
//       one for each kind of operation   by op, 4 bytes each: over all warm passes so far, and further times
//
// Workers add to it one after another; the last one takes the figures out. Two cache lines an operation
// beside the trace's: one of the list, which is written in order, and one of the histogram. Times of more
// than 2^32 - 1 ticks (a second and more) count as that.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
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
  // Bytes of memory for this many ops.
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

  // One more time of the op at this index, for its lowest alone.
  void add_to_lowest(std::size_t index, std::uint64_t apart) noexcept {
    lowest_[index] = std::min(lowest_[index], ticks_of(apart));
  }

  // The ops with the longest lowest times so far, as many as there is room for, in the order of the trace.
  // Those of no measurable time are not among them. Precondition: every op was added. O(ops).
  [[nodiscard]] std::span<const std::uint64_t> slowest(std::span<std::uint64_t> room) const noexcept {
    const auto slower = [this](std::uint64_t a, std::uint64_t b) { return lowest_[a] > lowest_[b]; };
    std::size_t count = 0;
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      if (lowest_[i] == 0 || ops_[i].kind == op_kind::resized_from) continue;
      if (count == room.size()) {
        if (!slower(i, room.front())) continue;
        std::ranges::pop_heap(room, slower);
        --count;
      }
      room[count++] = i;
      std::ranges::push_heap(room.first(count), slower);
    }
    std::ranges::sort(room.first(count));
    return room.first(count);
  }

  // By op, ticks: the lowest of its times but the cold ones.
  [[nodiscard]] std::span<const std::uint32_t> lowest() const noexcept { return lowest_; }

  // The figures of all that was added: every op must have been. The worst are those with the longest of the
  // lowest times, if that is above 0; of equals the earlier ones. Only lowest()
  // is left of the log.
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
      into[o].*which = {.min = part(0),
                        .p25 = part(2500),
                        .p50 = part(5000),
                        .p75 = part(7500),
                        .p90 = part(9000),
                        .p99 = part(9900),
                        .p999 = part(9990),
                        .p9999 = part(9999),
                        .max = clock_.ns(h.longest())};
      take_tail(h, into[o].*which);
      h.clear();
    }
  }

  void take_tail(const duration_histogram& h, percentiles& into) const noexcept {
    const std::uint64_t all = h.count();
    std::uint64_t above = all;  // operations that may take longer
    for (std::size_t k = 0; above != 0 && k < percentiles::most_steps; ++k) {
      const double one_in = std::exp2(static_cast<double>(k) / percentiles::steps_per_doubling);
      above = static_cast<std::uint64_t>(static_cast<double>(all) / one_in);
      into.tail[k] = clock_.ns(h.at_rank(all - above));
      into.tail_count = k + 1;
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
