// race: threads that do the same work at the same time.
//
//     thread 1        | pass pass pass ... pass |
//     thread 2        | pass pass pass ... pass |        W threads, each as many passes as the others
//                     ^ together                ^ over when the last one ends
//
// Where a pass throws std::bad_alloc, or a thread cannot be had, all threads end, and so does the race, with
// std::bad_alloc. Cost: two readings of two clocks a thread, none of them within its passes. The threads are
// all that is allocated.
//
// What threads stand on, mapped in before anything is measured, so that a thread's start takes no
// page from the system.
//
//     W threads at once | each touches its stack | end | W other threads have the same stacks, touched
//
// The C library keeps 40 MiB of stacks of threads that ended, and of each what is near its top: with stacks
// of the usual 8 MiB a sixth thread has a fresh one.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <new>
#include <span>
#include <system_error>
#include <thread>

#include "harness/cpu_clock.hpp"

namespace mallard::bench {

inline constexpr std::size_t most_threads = 64;

struct race_times {
  std::uint64_t cpu_ns = 0;   // of all threads
  std::uint64_t wall_ns = 0;  // from the first start to the last end
};

namespace detail {

struct lane {
  using clock = std::chrono::steady_clock;

  std::uint64_t cpu_ns = 0;
  clock::time_point begin;
  clock::time_point end;
};

template <class Pass>
void run_in(lane& mine, std::uint64_t passes, Pass& pass, std::atomic<bool>& out_of_memory) {
  mine.begin = lane::clock::now();
  const std::uint64_t start = harness::thread_cpu_ns();
  try {
    for (std::uint64_t i = 0; i < passes && !out_of_memory.load(std::memory_order_relaxed); ++i) pass();
  } catch (const std::bad_alloc&) {
    out_of_memory = true;
  }
  mine.cpu_ns = harness::thread_cpu_ns() - start;
  mine.end = lane::clock::now();
}

inline race_times times_of(std::span<const lane> lanes) {
  race_times sum;
  for (const lane& l : lanes) sum.cpu_ns += l.cpu_ns;
  const auto first = std::ranges::min(lanes, {}, &lane::begin).begin;
  const auto last = std::ranges::max(lanes, {}, &lane::end).end;
  sum.wall_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(last - first).count());
  return sum;
}

}  // namespace detail

// Calls pass() `passes` times in each of `threads` threads, 1 to most_threads.
template <class Pass>
race_times race(std::size_t threads, std::uint64_t passes, Pass pass) {
  std::array<detail::lane, most_threads> lanes;
  std::atomic<bool> out_of_memory = false;
  std::latch together(static_cast<std::ptrdiff_t>(threads));
  {
    std::array<std::jthread, most_threads> runners;
    for (std::size_t i = 0; i < threads; ++i) {
      try {
        runners[i] = std::jthread([&, i] {
          together.arrive_and_wait();
          detail::run_in(lanes[i], passes, pass, out_of_memory);
        });
      } catch (const std::system_error&) {  // no room for its stack, or no more threads
        out_of_memory = true;
        together.count_down(static_cast<std::ptrdiff_t>(threads - i));
        break;
      }
    }
  }
  if (out_of_memory) throw std::bad_alloc();
  return detail::times_of(std::span(lanes).first(threads));
}

inline constexpr std::size_t stack_of_thread = std::size_t{512} * 1024;  // bytes; 64 of them are 32 MiB

// Of threads that are made from here on.
inline void make_stacks_small() noexcept {
  ::pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, stack_of_thread);
  ::pthread_setattr_default_np(&attributes);
  ::pthread_attr_destroy(&attributes);
}

// The 16 KiB below the caller that outlive its thread.
inline void touch_stack() noexcept {
  constexpr std::size_t page = 4096;
  volatile std::byte room[4 * page];
  for (std::size_t i = 0; i < sizeof(room); i += page) room[i] = std::byte{};
}

}  // namespace mallard::bench
