// stopwatch: how long one call in 64 takes in the real allocator, and how long in the recorder.
//
//     entered .. began ======== ended .. noted
//        recorder     real call      recorder
//
// The other 63 cost a counter and a branch. Reading the clock takes time, too: one reading is taken off
// each distance. What the recorder took is summed up beside the ring, for the launcher to scale; not what it
// spent waiting, which takes no processor and has an account of its own.
#pragma once

#include <cstdint>

#include "journal/spool/record.hpp"
#include "mallard/core/attributes.hpp"
#include "recorder/clock.hpp"
#include "recorder/preload/session.hpp"
#include "recorder/preload/thread_state.hpp"

namespace mallard::recorder {

class stopwatch {
 public:
  MALLARD_INLINE stopwatch() noexcept : running_((++self.timed_calls & (timed_every - 1)) == 0) {
    if (running_) [[unlikely]]
      entered_ = clock_steps() - self.paused;
  }

  // Around the real call.
  MALLARD_INLINE void start() noexcept {
    if (running_) [[unlikely]]
      began_ = clock_steps();
  }
  MALLARD_INLINE void stop() noexcept {
    if (running_) [[unlikely]]
      ended_ = clock_steps();
  }

  [[nodiscard]] MALLARD_INLINE bool is_running() const noexcept { return running_; }

  // Ticks that the real call took, to the nearest, at least 1; 0 before it has ended.
  [[nodiscard]] std::uint64_t duration() const noexcept {
    if (ended_ == 0) return 0;
    const std::uint64_t steps = ended_ > began_ + gate.clock_cost ? ended_ - began_ - gate.clock_cost : 0;
    return steps < steps_per_tick ? 1 : to_ticks(steps);
  }

  // Adds what the recorder took, all in all, to the ring's account.
  MALLARD_INLINE void account() const noexcept {
    if (running_) [[unlikely]]
      add_to_account(entered_, ended_ - began_ + gate.clock_cost);
  }

 private:
  // To the nearest.
  static std::uint64_t to_ticks(std::uint64_t steps) noexcept {
    return (steps + steps_per_tick / 2) / steps_per_tick;
  }

  MALLARD_NOINLINE static void add_to_account(std::uint64_t entered, std::uint64_t others) noexcept {
    const std::uint64_t whole = clock_steps() - self.paused - entered;
    ring_header* ring = self.ring.shared;
    if (ring == nullptr || whole <= others) return;
    ring->sampled_ticks.store(ring->sampled_ticks.load(std::memory_order_relaxed) + to_ticks(whole - others),
                              std::memory_order_relaxed);
  }

  bool running_;
  std::uint64_t entered_ = 0;
  std::uint64_t began_ = 0;
  std::uint64_t ended_ = 0;
};

}  // namespace mallard::recorder
