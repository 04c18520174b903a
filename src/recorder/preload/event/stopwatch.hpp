// stopwatch: how long one call in 64 takes in the real allocator, and how long in the recorder.
//
//     entered .. began ======== ended .. recorded
//        recorder     real call      recorder
//
// The other 63 cost a counter and a branch. What timing itself takes is subtracted (recorder_state.hpp). The
// recorder's time is summed up beside the ring, for the launcher to scale. Waiting takes no processor time
// and is accounted for separately.
#pragma once

#include <cstdint>

#include "journal/spool/ring_record.hpp"
#include "mallard/core/attributes.hpp"
#include "recorder/clock.hpp"
#include "recorder/preload/spool/reader_watch.hpp"
#include "recorder/preload/state/recorder_state.hpp"
#include "recorder/preload/thread/thread_state.hpp"

namespace mallard::recorder {

class stopwatch {
 public:
  MALLARD_INLINE stopwatch() noexcept : running_(self.calls++ == self.next_timed) {
    if (running_) [[unlikely]] {
      choose_next();
      entered_ = clock_steps() - paused_steps;
    }
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
    const std::uint64_t took = ended_ - began_;
    const std::uint64_t steps = took > state.timing.call ? took - state.timing.call : 0;
    return steps < steps_per_tick ? 1 : to_ticks(steps);
  }

  // Adds what the recorder took, all in all, to the ring's account.
  MALLARD_INLINE void account() const noexcept {
    if (running_) [[unlikely]]
      add_to_account(entered_, ended_ - began_ + state.timing.whole - state.timing.call);
  }

 private:
  // One call in each 64, at a random place, so that no rhythm of the program can coincide with it.
  static void choose_next() noexcept {
    self.random = self.random * 1664525 + 1013904223;
    self.next_timed =
        (self.calls - 1) / timed_every * timed_every + timed_every + self.random / 65536 % timed_every;
  }

  // To the nearest.
  static std::uint64_t to_ticks(std::uint64_t steps) noexcept {
    return (steps + steps_per_tick / 2) / steps_per_tick;
  }

  MALLARD_NOINLINE static void add_to_account(std::uint64_t entered, std::uint64_t others) noexcept {
    const std::uint64_t whole = clock_steps() - paused_steps - entered;
    ring_header* ring = self.ring.shared;
    if (ring == nullptr || whole <= others || whole - others > longest) return;
    ring->sampled_ticks.store(ring->sampled_ticks.load(std::memory_order_relaxed) + to_ticks(whole - others),
                              std::memory_order_relaxed);
  }

  // Steps, some 50 us: a thread that was away for longer was not running.
  static constexpr std::uint64_t longest = std::uint64_t{1} << 17;

  bool running_;
  std::uint64_t entered_ = 0;
  std::uint64_t began_ = 0;
  std::uint64_t ended_ = 0;
};

}  // namespace mallard::recorder
