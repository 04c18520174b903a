// operation_meter: one reading before and one after a single operation.
// operation_clock: what the meter of time is made of, measured: its tick, its quantum, its own cost.
//
//     lfence rdtsc lfence | operation | rdtscp lfence        where the processor's counter is steady
//     clock_gettime(RAW)  | operation | clock_gettime(RAW)   elsewhere
//
// The fences keep the operation between the two readings: what came before it has ended, and nothing after
// it has begun. Without the one behind the first reading an operation of 10 ns hides in the time that the
// reading itself takes. So a figure is the latency of the operation alone, started on an empty pipeline; in
// a program it overlaps with its neighbours, and takes less.
//
// Figures are no finer than the quantum: the steps in which the counter advances, not its ticks. On AMD's
// Zen it advances by 10 ns. The overhead is the median of an empty pair, and is taken off each figure.
// Reading: some 25 ns a pair.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "harness/cpu_clock.hpp"
#include "mallard/core/attributes.hpp"

namespace mallard::harness {

class operation_meter {
 public:
  using reading = std::uint64_t (*)() noexcept;

  // Reads what this returns; null: the time-stamp counter, which must have no obstacle.
  explicit operation_meter(reading read) noexcept : read_(read) {}

  [[nodiscard]] MALLARD_INLINE std::uint64_t before() const noexcept {
#if defined(__x86_64__)
    if (read_ == nullptr) {
      std::uint64_t low = 0;
      std::uint64_t high = 0;
      asm volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
      return high << 32 | low;
    }
#endif
    return read_();
  }

  [[nodiscard]] MALLARD_INLINE std::uint64_t after() const noexcept {
#if defined(__x86_64__)
    if (read_ == nullptr) {
      std::uint64_t low = 0;
      std::uint64_t high = 0;
      asm volatile("rdtscp\n\tlfence" : "=a"(low), "=d"(high) : : "rcx", "memory");
      return high << 32 | low;
    }
#endif
    return read_();
  }

 private:
  reading read_;
};

// Why single operations cannot be timed by the time-stamp counter here; empty if they can.
[[nodiscard]] std::string_view tsc_obstacle() noexcept;

struct operation_clock {
  bool tsc = false;  // else CLOCK_MONOTONIC_RAW
  double ns_per_tick = 1;
  std::uint64_t quantum = 1;   // ticks that it advances by
  std::uint64_t overhead = 0;  // ticks of an empty pair of readings, the median of an undisturbed batch

  [[nodiscard]] operation_meter meter() const noexcept;
  [[nodiscard]] double ns(std::uint64_t ticks) const noexcept {
    return static_cast<double>(ticks) * ns_per_tick;
  }
  // Ticks of an operation between readings so far apart; never below 0.
  [[nodiscard]] MALLARD_INLINE std::uint64_t net(std::uint64_t apart) const noexcept {
    return apart - std::min(apart, overhead);
  }
};

// Keeps the calling thread on the processor that it is on, whose counter and caches its figures are of. False
// where the kernel does not allow it; the thread then may move as before.
bool stay_on_this_cpu() noexcept;

// By the time-stamp counter or, without one, the kernel's clock. Takes 50 ms; safe on any thread.
[[nodiscard]] operation_clock measured_clock(bool by_tsc = tsc_obstacle().empty());

}  // namespace mallard::harness
