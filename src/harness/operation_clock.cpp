#include "harness/operation_clock.hpp"

#include <sched.h>

#include <array>
#include <ctime>
#include <utility>
#include <vector>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace mallard::harness {
namespace {

std::uint64_t monotonic_raw_ns() noexcept { return detail::clock_ns(CLOCK_MONOTONIC_RAW); }

// The same moment by both clocks: of several tries the one that took least, so that nothing came between.
struct moment {
  std::uint64_t ticks;
  std::uint64_t ns;
};

moment now(const operation_meter& meter) {
  moment best{};
  std::uint64_t least = ~std::uint64_t{0};
  for (int i = 0; i < 64; ++i) {
    const std::uint64_t before = meter.before();
    const std::uint64_t ns = monotonic_raw_ns();
    const std::uint64_t took = meter.after() - before;
    if (took >= least) continue;
    least = took;
    best = {before + took / 2, ns};
  }
  return best;
}

double measure_tick(const operation_meter& meter) {
  const moment first = now(meter);
  const timespec pause{.tv_sec = 0, .tv_nsec = 50'000'000};
  ::nanosleep(&pause, nullptr);
  const moment last = now(meter);
  return static_cast<double>(last.ns - first.ns) / static_cast<double>(last.ticks - first.ticks);
}

// Work that takes a little longer with each step, a few cycles by a few cycles.
void spend(unsigned steps) {
  std::uint64_t x = 1;
  for (unsigned i = 0; i < steps; ++i) asm volatile("" : "+r"(x));
}

std::uint64_t median(std::vector<std::uint64_t> figures) {
  const auto middle = figures.begin() + static_cast<std::ptrdiff_t>(figures.size() / 2);
  std::ranges::nth_element(figures, middle);
  return *middle;
}

// The median of empty pairs, of many batches the lowest: where it lies between two steps of the counter, a
// batch that is disturbed has the higher one.
std::uint64_t measure_overhead(const operation_meter& meter) {
  std::uint64_t lowest = ~std::uint64_t{0};
  for (int batch = 0; batch < 32; ++batch) {
    std::vector<std::uint64_t> apart(501);
    for (std::uint64_t& a : apart) {
      const std::uint64_t before = meter.before();
      a = meter.after() - before;
    }
    lowest = std::min(lowest, median(std::move(apart)));
  }
  return lowest;
}

// Times of work of all lengths leave gaps, which are the quantum: the median of the gaps above each. Times a
// tick or two apart are the same: a counter that is scaled is rounded.
std::uint64_t measure_quantum(const operation_meter& meter) {
  std::vector<std::uint64_t> times;
  for (int repeat = 0; repeat < 64; ++repeat) {
    for (unsigned steps = 0; steps < 256; ++steps) {
      const std::uint64_t before = meter.before();
      spend(steps);
      times.push_back(meter.after() - before);
    }
  }
  std::ranges::sort(times);
  constexpr std::uint64_t rounding = 2;
  std::vector<std::uint64_t> gaps;
  for (auto t = times.begin(), above = t; t != times.end(); ++t) {
    while (above != times.end() && *above <= *t + rounding) ++above;
    if (above != times.end()) gaps.push_back(*above - *t);
  }
  return gaps.empty() ? 1 : median(std::move(gaps));
}

}  // namespace

std::string_view tsc_obstacle() noexcept {
#if defined(__x86_64__)
  constexpr unsigned power_leaf = 0x80000007;
  constexpr unsigned invariant_tsc = 1U << 8;
  std::array<unsigned, 4> r{};
  if (__get_cpuid(power_leaf, &r[0], &r[1], &r[2], &r[3]) != 0 && (r[3] & invariant_tsc) != 0) return {};
  return "the time-stamp counter of this processor is not steady";
#else
  return "this processor has no time-stamp counter";
#endif
}

bool stay_on_this_cpu() noexcept {
  const int cpu = ::sched_getcpu();
  if (cpu < 0) return false;
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(static_cast<unsigned>(cpu), &only);
  return ::sched_setaffinity(0, sizeof only, &only) == 0;
}

operation_meter operation_clock::meter() const noexcept {
  return operation_meter(tsc ? nullptr : monotonic_raw_ns);
}

operation_clock measured_clock(bool by_tsc) {
  operation_clock clock;
  clock.tsc = by_tsc;
  const operation_meter meter = clock.meter();
  if (by_tsc) clock.ns_per_tick = measure_tick(meter);
  clock.quantum = measure_quantum(meter);
  clock.overhead = measure_overhead(meter);
  return clock;
}

}  // namespace mallard::harness
