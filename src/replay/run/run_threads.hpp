// run_threads<C>: does one job with allocator C on the recorded threads, in the worker.
//
//     own memory mapped in --> allocator made --> passes; each begins its threads anew
//
// A pass's time is the CPU time of the whole process less what the replay's own waits took. The check fills
// each block and looks at its end whether it has stayed so, whichever thread ends it: two blocks that overlap
// spoil one another.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <span>

#include "harness/contended_mutex.hpp"
#include "harness/cpu_clock.hpp"
#include "harness/memory_meter.hpp"
#include "replay/run/block_calls.hpp"
#include "replay/run/job.hpp"
#include "replay/run/littering.hpp"
#include "replay/run/run.hpp"
#include "replay/run/thread_pass.hpp"

namespace mallard::replay {

// A pass that fills each block and compares it at its end; violation: what was wrong, else unchanged.
[[nodiscard]] pass_result checked_pass(block_calls c, std::span<thread_room> rooms, const char*& violation);

// A pass that writes every byte; max_live: how many were alive at most, where it was done.
[[nodiscard]] pass_result weighed_pass(block_calls c, std::span<thread_room> rooms, std::uint64_t& max_live);

template <thread_allocator C>
class thread_runner {
 public:
  thread_runner(const trace& t, job& j) : job_(j), rooms_(t, j.copies) {}

  void run(C& c) {
    switch (job_.kind) {
      case job_kind::check:
        return check(c);
      case job_kind::measure:
        return measure(c);
      case job_kind::footprint:
        return footprint(c);
      case job_kind::count_instructions:
      case job_kind::curve:
      case job_kind::latency:
        return job_.refuse(harness::work_state::failed, "this is measured on one thread only");
      case job_kind::count_contention:
        return count_contention(c);
    }
  }

 private:
  // What the process has used up to now.
  struct reading {
    double cpu_ns = 0;  // of which waits are subtracted
    double wall_ns = 0;
    double waiting_ns = 0;
    double voluntary = 0;
    double involuntary = 0;
  };

  static constexpr std::size_t most_passes = 512;

  template <touch Touch>
  bool pass(C& c, waiting* waits = nullptr) {
    using calls = calls_of_pass<C>;
    const pass_result result = thread_pass<Touch, calls>(calls_in(c), rooms_.rooms()).run();
    if (waits != nullptr) *waits = result.waits;
    return ended(c, result);
  }

  // Ends a pass that was done; false, with the job refused, if it was not.
  bool ended(C& c, const pass_result& result) {
    job_.stopped_at = result.stopped_at;
    if (result.end == pass_end::refused)
      job_.refuse(harness::work_state::out_of_memory, "an allocation was refused");
    if (result.end == pass_end::no_thread)
      job_.refuse(harness::work_state::out_of_memory, "the system refused a thread");
    if (result.end != pass_end::done) return false;
    c.end_pass();
    return true;
  }

  void check(C& c) {
    const char* violation = nullptr;
    if (!ended(c, checked_pass(c, rooms_.rooms(), violation))) return;
    if (violation != nullptr) return job_.refuse(harness::work_state::failed, violation);
    job_.state = harness::work_state::done;
  }

  void count_contention(C& c) {
    if (!pass<touch::first>(c)) return;  // whose page faults keep locks for long
    const std::uint64_t attempts = harness::contended_mutex::attempts();
    const std::uint64_t failures = harness::contended_mutex::failures();
    const std::uint64_t start = harness::process_cpu_ns();
    do {
      if (!pass<touch::first>(c)) return;
    } while (harness::process_cpu_ns() - start < job_.warm_ns);
    job_.lock_attempts = harness::contended_mutex::attempts() - attempts;
    job_.lock_failures = harness::contended_mutex::failures() - failures;
    job_.state = harness::work_state::done;
  }

  static reading used() {
    rusage now{};
    ::getrusage(RUSAGE_SELF, &now);
    return {static_cast<double>(harness::process_cpu_ns()),
            static_cast<double>(harness::detail::clock_ns(CLOCK_MONOTONIC)), 0,
            static_cast<double>(now.ru_nvcsw), static_cast<double>(now.ru_nivcsw)};
  }

  bool touching_pass(C& c, waiting& waits) {
    if constexpr (serves_parts<C>)
      if (job_.touched == touch::lines) return pass<touch::lines>(c, &waits);
    return job_.touched == touch::all ? pass<touch::all>(c, &waits) : pass<touch::first>(c, &waits);
  }

  bool timed_pass(C& c, reading& took) {
    const reading before = used();
    waiting waits;
    const bool done = touching_pass(c, waits);
    const reading after = used();
    const auto of_waits = static_cast<double>(waits.cpu_ns);
    took = {after.cpu_ns - before.cpu_ns - of_waits, after.wall_ns - before.wall_ns, of_waits,
            after.voluntary - before.voluntary - static_cast<double>(waits.voluntary_switches),
            after.involuntary - before.involuntary - static_cast<double>(waits.involuntary_switches)};
    return done;
  }

  // Median over the warm passes of one of their figures.
  double median_of(double reading::* figure) {
    std::array<double, most_passes> figures{};
    for (std::size_t i = 0; i != passes_; ++i) figures[i] = warm_[i].*figure;
    double* const middle = figures.data() + passes_ / 2;
    std::nth_element(figures.data(), middle, figures.data() + passes_);
    return *middle;
  }

  void measure(C& c) {
    reading took;
    if constexpr (starts_warm<C>)
      if (!timed_pass(c, took)) return;
    const std::uint64_t faults = harness::page_faults();
    if (!timed_pass(c, took)) return;
    job_.cold_ns = took.cpu_ns;
    job_.cold_wall_ns = took.wall_ns;
    job_.cold_page_faults = harness::page_faults() - faults;

    double sum = 0;
    while (passes_ != most_passes && (passes_ < 3 || sum < static_cast<double>(job_.warm_ns))) {
      if (!timed_pass(c, warm_[passes_])) return;
      sum += warm_[passes_].cpu_ns + warm_[passes_].waiting_ns;
      ++passes_;
    }
    job_.warm_median_ns = median_of(&reading::cpu_ns);
    job_.warm_wall_ns = median_of(&reading::wall_ns);
    job_.waiting_ns = median_of(&reading::waiting_ns);
    job_.voluntary_switches = median_of(&reading::voluntary);
    job_.involuntary_switches = median_of(&reading::involuntary);
    job_.warm_passes = passes_;
    job_.state = harness::work_state::done;
  }

  void footprint(C& c) {
    harness::map_in_code();
    harness::reset_peak();
    const std::size_t peak_before = harness::peak_resident();
    const std::size_t before = harness::resident_exactly();
    if (!ended(c, weighed_pass(c, rooms_.rooms(), job_.max_live))) return;
    if constexpr (counts_held<C>) {
      job_.max_held = c.max_held();
      job_.held_after = c.held();
    } else {
      const std::size_t after = harness::resident_exactly();
      const std::size_t peak = harness::peak_resident();
      job_.max_held = (peak > peak_before ? peak - peak_before : 0) + bytes_of_heaps(c);
      job_.held_after = (after > before ? after - before : 0) + bytes_of_heaps(c);
    }
    job_.state = harness::work_state::done;
  }

  job& job_;
  thread_rooms rooms_;
  std::array<reading, most_passes> warm_{};
  std::size_t passes_ = 0;
};

template <thread_allocator C>
void run_threads(const trace& t, job& j) {
  thread_runner<C> r(t, j);
  if constexpr (std::constructible_from<C, const trace&, std::uint64_t>) {
    C c(t, j.copies);
    r.run(c);
  } else {
    C c(t);
    r.run(c);
  }
}

}  // namespace mallard::replay
