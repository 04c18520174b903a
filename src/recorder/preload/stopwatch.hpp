// stopwatch: how long one call in 64 takes in the real allocator, and how long in the recorder.
//
//     entered .. began ======== ended .. noted
//        recorder     real call      recorder
//
// The other 63 cost a counter and a branch. Reading the clock takes time, too: one reading is taken off
// each distance. What the recorder took is summed up beside the ring, for the launcher to scale.
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
      entered_ = ticks();
  }

  // Around the real call.
  MALLARD_INLINE void start() noexcept {
    if (running_) [[unlikely]]
      began_ = ticks();
  }
  MALLARD_INLINE void stop() noexcept {
    if (running_) [[unlikely]]
      ended_ = ticks();
  }

  [[nodiscard]] MALLARD_INLINE bool is_running() const noexcept { return running_; }

  // Ticks that the real call took, at least 1; 0 before it has ended.
  [[nodiscard]] std::uint64_t duration() const noexcept {
    if (ended_ == 0) return 0;
    return ended_ > began_ + gate.clock_cost ? ended_ - began_ - gate.clock_cost : 1;
  }

  // Adds what the recorder took, all in all, to the ring's account.
  MALLARD_INLINE void account() const noexcept {
    if (running_) [[unlikely]]
      add_to_account(entered_, ended_ - began_ + gate.clock_cost);
  }

 private:
  MALLARD_NOINLINE static void add_to_account(std::uint64_t entered, std::uint64_t others) noexcept {
    const std::uint64_t whole = ticks() - entered;
    ring_header* ring = self.ring.shared;
    if (ring == nullptr || whole <= others) return;
    ring->sampled_ticks.store(ring->sampled_ticks.load(std::memory_order_relaxed) + whole - others,
                              std::memory_order_relaxed);
  }

  bool running_;
  std::uint64_t entered_ = 0;
  std::uint64_t began_ = 0;
  std::uint64_t ended_ = 0;
};

}  // namespace mallard::recorder
