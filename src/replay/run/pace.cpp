#include "replay/run/pace.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <memory>
#include <new>

#include "harness/cpu_clock.hpp"

namespace mallard::replay {
namespace {

constexpr int looks = 300;  // before a wait sleeps

void rest() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// What the calling thread has used up to now, in the terms of a wait. The clock is read last: what comes
// before is not counted twice.
waiting used() noexcept {
  rusage now{};
  ::getrusage(RUSAGE_THREAD, &now);
  return {harness::thread_cpu_ns(), 0, static_cast<std::uint64_t>(now.ru_nvcsw),
          static_cast<std::uint64_t>(now.ru_nivcsw)};
}

std::uint64_t meter_cost_ns = 0;

}  // namespace

metered_wait::metered_wait(waiting& sum) noexcept : sum_(sum), before_(used()) {}

metered_wait::~metered_wait() {
  const waiting after = used();
  sum_ += {after.cpu_ns - before_.cpu_ns + meter_cost_ns, 1,
           after.voluntary_switches - before_.voluntary_switches,
           after.involuntary_switches - before_.involuntary_switches};
}

void metered_wait::measure_cost() noexcept {
  constexpr std::uint64_t times = 1000;
  meter_cost_ns = 0;
  waiting counted;
  const std::uint64_t before = harness::thread_cpu_ns();
  for (std::uint64_t i = 0; i != times; ++i) const metered_wait empty(counted);
  const std::uint64_t took = harness::thread_cpu_ns() - before;
  meter_cost_ns = took > counted.cpu_ns ? (took - counted.cpu_ns) / times : 0;
}

waiting& waiting::operator+=(const waiting& other) noexcept {
  cpu_ns += other.cpu_ns;
  waits += other.waits;
  voluntary_switches += other.voluntary_switches;
  involuntary_switches += other.involuntary_switches;
  return *this;
}

pace::pace(const trace& t)
    : trace_(t), memory_(t.facts().threads_at_once * sizeof(progress), harness::fill::before_use) {
  auto* const first = static_cast<progress*>(memory_.data());
  std::uninitialized_value_construct_n(first, t.facts().threads_at_once);
  progress_ = {first, t.facts().threads_at_once};
  restart();
}

void pace::restart() noexcept {
  for (progress& p : progress_) {
    p.next.store(no_step, std::memory_order_relaxed);
    p.wake_from.store(no_step, std::memory_order_relaxed);
  }
  for (const thread_part& part : trace_.threads()) {
    std::atomic<std::uint32_t>& next = progress_[part.lane].next;
    const std::uint32_t first = trace_.steps()[part.first_step].order;
    if (first < next.load(std::memory_order_relaxed)) next.store(first, std::memory_order_relaxed);
  }
  known_frontier_.store(0, std::memory_order_relaxed);
  stopped_.store(false, std::memory_order_release);
}

std::uint32_t pace::frontier(std::uint32_t enough) noexcept {
  const std::uint32_t known = known_frontier_.load(std::memory_order_acquire);
  if (known >= enough) return known;
  std::uint32_t least = no_step;
  for (const progress& p : progress_) least = std::min(least, p.next.load(std::memory_order_acquire));
  // A reader has to see what those lanes have done: this thread has seen it, and passes it on.
  if (least > known) known_frontier_.store(least, std::memory_order_release);
  return least;
}

void pace::wake(progress& p) noexcept {
  p.wake_from.store(no_step, std::memory_order_seq_cst);
  p.wakes.fetch_add(1, std::memory_order_seq_cst);
  p.wakes.notify_all();
}

void pace::wake(progress& p, waiting& sum) noexcept {
  const metered_wait here(sum);
  wake(p);
}

// A store into `next` may be on its way while a sleeper that looked before has set `wake_from`: the next step
// finds that, or, where there is none soon, this.
void pace::wake_sleepers(std::uint32_t own_lane, waiting& sum) noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  progress& own = progress_[own_lane];
  if (own.next.load(std::memory_order_relaxed) > own.wake_from.load(std::memory_order_relaxed))
    wake(own, sum);
}

// Once; whether the step is done now.
bool pace::sleep_for(progress& p, std::uint32_t order) noexcept {
  const int seen = p.wakes.load(std::memory_order_seq_cst);
  std::uint32_t from = p.wake_from.load(std::memory_order_relaxed);
  while (order < from && !p.wake_from.compare_exchange_weak(from, order, std::memory_order_seq_cst)) continue;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (p.next.load(std::memory_order_acquire) > order) return true;
  if (!stopped()) p.wakes.wait(seen, std::memory_order_acquire);
  return p.next.load(std::memory_order_acquire) > order;
}

bool pace::wait(std::uint32_t lane, std::uint32_t order) noexcept {
  progress& p = progress_[lane];
  for (int look = 0; look != looks; ++look) {
    if (p.next.load(std::memory_order_acquire) > order) return true;
    if (stopped()) return false;
    rest();
  }
  while (!sleep_for(p, order))
    if (stopped()) return false;
  return true;
}

bool pace::wait_for_step(std::uint32_t lane, std::uint32_t order, waiting& sum) noexcept {
  const metered_wait here(sum);
  return wait(lane, order);
}

bool pace::wait_for_frontier(std::uint32_t order, waiting& sum) noexcept {
  const metered_wait here(sum);
  for (std::uint32_t lane = 0; lane != progress_.size(); ++lane)
    if (next_of(lane) < order && !wait(lane, order - 1)) return false;
  return !stopped();
}

void pace::stop() noexcept {
  stopped_.store(true, std::memory_order_seq_cst);
  for (progress& p : progress_) wake(p);
}

}  // namespace mallard::replay
