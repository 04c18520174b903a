// pace: how far the lanes of a threaded pass have got, and waiting for one of them.
//
//     lane 0   next = 17     a step done --publish--> next; lanes that wait for less are woken
//     lane 1   next = 12     "everything of this lane below order `next` is done"
//     lane 2   next = 15     frontier: the least of all, below which everything is done
//
// Publishing is a store on the lane's own line, and a load that tells whether anyone sleeps. A wait looks
// again a few hundred times, as what it waits for mostly comes within a microsecond, and then sleeps. Its
// cost is counted separately, so that it is no cost of an allocator. All memory is the harness's own.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "harness/mapping.hpp"
#include "mallard/core/attributes.hpp"
#include "replay/trace/op.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::replay {

// What the waits of a thread took, or of all together; waking others counts, too.
struct waiting {
  std::uint64_t cpu_ns = 0;
  std::uint64_t waits = 0;
  std::uint64_t voluntary_switches = 0;
  std::uint64_t involuntary_switches = 0;

  waiting& operator+=(const waiting& other) noexcept;
};

// Counts what the calling thread uses during its life as waiting.
class metered_wait {
 public:
  explicit metered_wait(waiting& sum) noexcept;
  ~metered_wait();
  metered_wait(const metered_wait&) = delete;
  metered_wait& operator=(const metered_wait&) = delete;

  // CPU ns that an empty one takes beside what it counts: measured once, and counted with each.
  static void measure_cost() noexcept;

 private:
  waiting& sum_;
  waiting before_;
};

class pace {
 public:
  explicit pace(const trace& t);

  // To the beginning of a pass; no thread of one is running.
  void restart() noexcept;

  // Says, on the thread of this lane, that its step before the one of order `next` is done.
  MALLARD_INLINE void publish(std::uint32_t lane, std::uint32_t next, waiting& sum) noexcept {
    progress& own = progress_[lane];
    own.next.store(next, std::memory_order_release);
    if (next > own.wake_from.load(std::memory_order_relaxed)) [[unlikely]]
      wake(own, sum);
  }

  // Every step of the lane below this order is done.
  [[nodiscard]] std::uint32_t next_of(std::uint32_t lane) const noexcept {
    return progress_[lane].next.load(std::memory_order_acquire);
  }
  // Every step below this order is done. O(lanes), unless it is known that `enough` is.
  [[nodiscard]] std::uint32_t frontier(std::uint32_t enough = no_step) noexcept;

  // Wait until the lane's step of this order is done, or everything below it; false if the pass has been
  // stopped. A thread that has a lane first wakes those that sleep for what it has done.
  bool wait_for_step(std::uint32_t lane, std::uint32_t order, waiting& sum) noexcept;
  bool wait_for_frontier(std::uint32_t order, waiting& sum) noexcept;
  void wake_sleepers(std::uint32_t own_lane, waiting& sum) noexcept;

  // Ends the pass: nobody waits any longer.
  void stop() noexcept;
  [[nodiscard]] bool stopped() const noexcept { return stopped_.load(std::memory_order_acquire); }

 private:
  // On lines of its own, of which processors fetch two at once.
  struct alignas(128) progress {
    std::atomic<std::uint32_t> next;
    std::atomic<std::uint32_t> wake_from;  // somebody sleeps for the step of this order; no_step: nobody
    std::atomic<int> wakes;                // changes when sleepers are to look again
  };

  static void wake(progress& p) noexcept;
  static void wake(progress& p, waiting& sum) noexcept;
  bool sleep_for(progress& p, std::uint32_t order) noexcept;
  bool wait(std::uint32_t lane, std::uint32_t order) noexcept;

  const trace& trace_;
  harness::scratch memory_;
  std::span<progress> progress_;                                // by lane
  alignas(128) std::atomic<std::uint32_t> known_frontier_ = 0;  // what any thread has found
  std::atomic<bool> stopped_ = false;
};

}  // namespace mallard::replay
