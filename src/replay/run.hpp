// run<C>: does one job with contestant C, in the worker. Everything it needs beside the contestant
// is mapped, and mapped in, before the contestant exists.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "harness/cpu_clock.hpp"
#include "harness/mapping.hpp"
#include "harness/memory_meter.hpp"
#include "mallard/core/usage.hpp"
#include "replay/check_pass.hpp"
#include "replay/counted_call.hpp"
#include "replay/job.hpp"
#include "replay/pass.hpp"
#include "replay/samples.hpp"
#include "replay/trace.hpp"

namespace mallard::replay {

// A contestant that counts at its source what it holds.
template <class C>
concept counts_held = requires(const C& c) {
  { c.held() } -> std::convertible_to<std::size_t>;
  { c.max_held() } -> std::convertible_to<std::size_t>;
};

template <class C>
concept tells_usage = counts_held<C> && requires(const C& c) {
  { c.usage() } -> std::same_as<heap_usage>;
};

// A contestant whose first pass is not to count: its memory is the harness's.
template <class C>
concept starts_warm = requires { requires C::starts_warm; };

template <contestant C>
class runner {
 public:
  runner(const trace& t, job& j)
      : ops_(t.ops()),
        facts_(t.facts()),
        job_(j),
        slot_memory_(t.facts().slots * sizeof(void*), harness::fill::before_use),
        slots_(static_cast<void**>(slot_memory_.data())) {}

  void run(C& c) {
    switch (job_.kind) {
      case job_kind::check:
        return check(c);
      case job_kind::measure:
        return measure(c);
      case job_kind::footprint:
        return footprint(c);
      case job_kind::count_instructions:
        return count_instructions(c);
    }
  }

 private:
  // Replays ops [from, to); false, with the job refused, if the contestant gave up.
  bool pass(C& c, std::size_t from, std::size_t to, touch touched) {
    const op* const last = ops_.data() + to;
    const op* const stop = touched == touch::all
                               ? replay_pass<touch::all>(c, ops_.data() + from, last, slots_)
                               : replay_pass<touch::first>(c, ops_.data() + from, last, slots_);
    if (stop == last) return true;
    job_.stopped_at = static_cast<std::uint64_t>(stop - ops_.data());
    job_.refuse(harness::work_state::out_of_memory, "an allocation was refused");
    return false;
  }

  bool whole_pass(C& c) {
    if (!pass(c, 0, ops_.size(), job_.touched)) return false;
    c.end_pass();
    return true;
  }

  void check(C& c) {
    const check_result result = check_pass(c, ops_, facts_.slots);
    job_.stopped_at = result.stopped_at;
    if (result.verdict == check_verdict::exhausted)
      return job_.refuse(harness::work_state::out_of_memory, result.what);
    if (result.verdict == check_verdict::broken) return job_.refuse(harness::work_state::failed, result.what);
    job_.state = harness::work_state::done;
  }

  void measure(C& c) {
    if constexpr (starts_warm<C>)
      if (!whole_pass(c)) return;
    const std::uint64_t faults = harness::page_faults();
    const std::uint64_t start = harness::thread_cpu_ns();
    if (!whole_pass(c)) return;
    job_.cold_ns = static_cast<double>(harness::thread_cpu_ns() - start);
    job_.cold_page_faults = harness::page_faults() - faults;

    samples warm(job_.warm_ns);
    while (!warm.enough()) {
      const std::uint64_t begin = harness::thread_cpu_ns();
      for (std::uint64_t i = 0; i < warm.passes_a_sample(); ++i)
        if (!whole_pass(c)) return;
      warm.add(harness::thread_cpu_ns() - begin);
    }
    job_.warm_median_ns = warm.median();
    job_.warm_passes = warm.passes();
    job_.state = harness::work_state::done;
  }

  void footprint(C& c) {
    harness::map_in_code();
    harness::reset_peak();
    const std::size_t peak_before = harness::peak_resident();
    const std::size_t before = harness::resident_exactly();
    const std::size_t middle = facts_.max_live_op + 1;
    if (!pass(c, 0, middle, touch::all)) return;
    if constexpr (tells_usage<C>) note_usage(c);
    const std::size_t at_max_live = counts_held<C> ? 0 : above(harness::resident_exactly(), before);
    if (!pass(c, middle, ops_.size(), touch::all)) return;
    c.end_pass();

    if constexpr (counts_held<C>) {
      job_.max_held = c.max_held();
      job_.held_after = c.held();
    } else {
      job_.max_held = std::max(at_max_live, above(harness::peak_resident(), peak_before));
      job_.held_after = above(harness::resident_exactly(), before);
    }
    job_.state = harness::work_state::done;
  }

  void count_instructions(C& c) {
    if (!whole_pass(c)) return;
    bool served = false;
    counted_call([&] { served = whole_pass(c); });
    if (served) job_.state = harness::work_state::done;
  }

  // What a stack of heaps holds is what has left its source, not what its top has from the next.
  void note_usage(const C& c)
    requires tells_usage<C>
  {
    const heap_usage usage = c.usage();
    job_.has_usage = true;
    job_.held = c.held();
    job_.carved = usage.carved;
    job_.granted = usage.granted;
  }

  static std::size_t above(std::size_t now, std::size_t before) { return now > before ? now - before : 0; }

  std::span<const op> ops_;
  const trace_facts& facts_;
  job& job_;
  harness::scratch slot_memory_;
  void** slots_;
};

template <contestant C>
void run(const trace& t, job& j) {
  runner<C> r(t, j);
  C c(t);
  r.run(c);
}

}  // namespace mallard::replay
