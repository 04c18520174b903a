// run<C>: does one job with allocator C, in the worker.
//
//     own memory mapped in --> [litter] --> [shift] --> allocator made --> [litter in it] --> the job
//
// Everything it needs beside the allocator is mapped, and mapped in, before the allocator exists. What
// the litter holds is not the allocator's: held is what it takes above its littered heap, where blocks in
// holes add nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "harness/cpu_clock.hpp"
#include "harness/litter.hpp"
#include "harness/mapping.hpp"
#include "harness/memory_meter.hpp"
#include "mallard/core/usage.hpp"
#include "replay/run/block_calls.hpp"
#include "replay/run/callgrind.hpp"
#include "replay/run/check_pass.hpp"
#include "replay/run/curve_pass.hpp"
#include "replay/run/job.hpp"
#include "replay/run/latency.hpp"
#include "replay/run/littering.hpp"
#include "replay/run/pass.hpp"
#include "replay/run/region_check.hpp"
#include "replay/run/region_pass.hpp"
#include "replay/run/samples.hpp"
#include "replay/trace/live_walk.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::replay {

// driver<C>: a trace with what a pass of allocator C over it needs, whatever the trace is of.
//
//     allocator           block_driver     ops on blocks
//     region_allocator    region_driver    ops on regions
template <block_allocator C>
class block_driver {
 public:
  explicit block_driver(const trace& t)
      : trace_(t), slot_memory_(t.facts().slots * sizeof(void*), harness::fill::before_use) {}

  // Replays ops [from, to); the index of the one that could not be served, or `to`.
  template <touch Touch>
  std::size_t replay(C& c, std::size_t from, std::size_t to) {
    const op* const first = trace_.ops().data();
    return static_cast<std::size_t>(replay_pass<Touch>(calls_in(c), first + from, first + to, slots()) -
                                    first);
  }

  check_result check(C& c) { return check_pass(c, trace_.ops(), trace_.facts().slots); }

  [[nodiscard]] void** slots() const { return static_cast<void**>(slot_memory_.data()); }

 private:
  const trace& trace_;
  harness::scratch slot_memory_;
};

template <region_allocator C>
class region_driver {
 public:
  explicit region_driver(const trace& t)
      : trace_(t), block_memory_(t.facts().slots * sizeof(void*), harness::fill::before_use) {}

  // Replays ops [from, to); the index of the one that could not be served, or `to`.
  template <touch Touch>
  std::size_t replay(C& c, std::size_t from, std::size_t to) {
    const region_op* const first = trace_.region_ops().data();
    void** const blocks = static_cast<void**>(block_memory_.data());
    return static_cast<std::size_t>(replay_region_pass<Touch>(c, first + from, first + to, blocks) - first);
  }

  check_result check(C& c) { return check_region_pass(c, trace_); }

 private:
  const trace& trace_;
  harness::scratch block_memory_;
};

template <class C>
concept any_allocator = block_allocator<C> || region_allocator<C>;

template <any_allocator C>
struct driver_choice {
  using type = block_driver<C>;
};
template <region_allocator C>
struct driver_choice<C> {
  using type = region_driver<C>;
};

template <any_allocator C>
using driver = typename driver_choice<C>::type;

// Moves what the malloc of this process hands out from here on by this number of bytes, as far as its size
// classes allow.
[[nodiscard]] inline void* shift_malloc(std::size_t bytes) noexcept {
  constexpr std::size_t tag = 8;  // of the boundary, in glibc's
  return bytes == 0 ? nullptr : std::malloc(bytes - tag);
}

// The objects that heaps of a part are, which lie in the harness's own memory.
template <class C>
[[nodiscard]] std::size_t bytes_of_heaps(const C& c) {
  if constexpr (serves_parts<C>)
    return c.heap_bytes();
  else
    return 0;
}

template <any_allocator C>
class runner {
 public:
  runner(const trace& t, job& j) : trace_(t), facts_(t.facts()), job_(j), driver_(t) {
    if (j.kind == job_kind::latency) latency_.emplace(t, j.latency);
  }

  // The two places of litter: either may refuse the job for want of memory, and is then false.
  bool litter_malloc() {
    if constexpr (ends_all_at_once<C>) return litter(harness::calls_of_malloc());
    return true;
  }
  bool litter_in(C& c) {
    if constexpr (littered_itself<C>) return litter(calls_of(littered_.emplace(c)));
    return true;
  }

  void run(C& c) {
    switch (job_.kind) {
      case job_kind::check:
        return check(c);
      case job_kind::measure:
        return measure(c);
      case job_kind::footprint:
        return footprint(c);
      case job_kind::curve:
        return curve(c);
      case job_kind::latency:
        return time_operations(c);
      case job_kind::count_instructions:
        return count_instructions(c);
      case job_kind::count_contention:
        return job_.refuse(harness::work_state::failed, "one thread has no contention");
    }
  }

 private:
  bool litter(const harness::heap_calls& heap) {
    if (job_.litter == 0) return true;
    const live_sizes alive(trace_);
    litter_.emplace(heap, harness::litter_plan{alive.sizes(), alive.count(), job_.litter});
    if (litter_->shortage() == nullptr) return true;
    job_.refuse(harness::work_state::out_of_memory, litter_->shortage());
    return false;
  }

  // Replays ops [from, to); the index of the one that could not be served, or `to`.
  std::size_t replay(C& c, std::size_t from, std::size_t to, touch touched) {
    if constexpr (serves_parts<C>)
      if (touched == touch::lines) return driver_.template replay<touch::lines>(c, from, to);
    return touched == touch::all ? driver_.template replay<touch::all>(c, from, to)
                                 : driver_.template replay<touch::first>(c, from, to);
  }

  // The same; false, with the job refused, if the allocator gave up.
  bool pass(C& c, std::size_t from, std::size_t to, touch touched) {
    return served(replay(c, from, to, touched), to);
  }

  bool served(std::size_t stop, std::size_t to) {
    if (stop == to) return true;
    job_.stopped_at = stop;
    job_.refuse(harness::work_state::out_of_memory, "an allocation was refused");
    return false;
  }

  bool whole_pass(C& c) {
    if (!pass(c, 0, facts_.ops, job_.touched)) return false;
    c.end_pass();
    return true;
  }

  void check(C& c) {
    const check_result result = driver_.check(c);
    job_.stopped_at = result.stopped_at;
    if (result.verdict == check_verdict::exhausted)
      return job_.refuse(harness::work_state::out_of_memory, result.what);
    if (result.verdict == check_verdict::broken) return job_.refuse(harness::work_state::failed, result.what);
    if (litter_ && !litter_->is_intact())
      return job_.refuse(harness::work_state::failed, "contents of blocks beside the trace's are damaged");
    job_.state = harness::work_state::done;
  }

  // CPU time of so many passes. With a part, what the program never freed is freed in none of it: such frees
  // are there so that passes repeat, and one of them can make a malloc coalesce all that was freed before.
  bool timed_passes(C& c, std::uint64_t count, std::uint64_t& ns) {
    const std::size_t left = serves_parts<C> ? facts_.never_freed : 0;
    const std::uint64_t begin = harness::thread_cpu_ns();
    std::uint64_t beside = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      if (!pass(c, 0, facts_.ops - left, job_.touched)) return false;
      const std::uint64_t done = left == 0 ? 0 : harness::thread_cpu_ns();
      if (!pass(c, facts_.ops - left, facts_.ops, job_.touched)) return false;
      c.end_pass();
      if (left != 0) beside += harness::thread_cpu_ns() - done;
    }
    ns = harness::thread_cpu_ns() - begin - beside;
    return true;
  }

  void measure(C& c) {
    if constexpr (starts_warm<C>)
      if (!whole_pass(c)) return;
    const std::uint64_t faults = harness::page_faults();
    std::uint64_t ns = 0;
    if (!timed_passes(c, 1, ns)) return;
    job_.cold_ns = static_cast<double>(ns);
    job_.cold_page_faults = harness::page_faults() - faults;

    samples warm(job_.warm_ns);
    while (!warm.enough()) {
      if (!timed_passes(c, warm.passes_a_sample(), ns)) return;
      warm.add(ns);
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
    held_before_ = mark_held(c);
    const std::size_t middle = facts_.max_live_op + 1;
    if (!held_pass(c, 0, middle)) return;
    const std::uint64_t objects = objects_;
    if constexpr (tells_usage<C>)
      if (!is_littered()) record_usage(c);
    const std::size_t at_max_live = counts_held<C> ? 0 : above(harness::resident_exactly(), before);
    if (!held_pass(c, middle, facts_.ops)) return;
    c.end_pass();

    if constexpr (counts_held<C>) {
      job_.max_held = std::max(max_held_, above(c.max_held(), held_before_));
      job_.held_after = above(c.held(), held_before_);
    } else {
      job_.max_held =
          std::max(at_max_live, above(harness::peak_resident(), peak_before)) + objects + bytes_of_heaps(c);
      job_.held_after = above(harness::resident_exactly(), before) + bytes_of_heaps(c);
    }
    job_.state = harness::work_state::done;
  }

  void curve(C& c) {
    const auto replay = [&](std::size_t from, std::size_t to) { return pass(c, from, to, touch::all); };
    if (curve_pass(c, trace_, mark_held(c), std::ref(replay), job_.curve))
      job_.state = harness::work_state::done;
  }

  // Replays ops [from, to), every byte written, in parts between which regions begin or end: in one of these
  // the allocator's memory and the objects of the regions alive are most together.
  bool held_pass(C& c, std::size_t from, std::size_t to) {
    if constexpr (keeps_regions<C>) {
      const std::span<const region_op> ops = trace_.region_ops();
      for (std::size_t i = from; i < to; ++i) {
        const int more = regions_more(ops[i].kind());
        if (more == 0) continue;
        const std::size_t end = more > 0 ? i : i + 1;
        if (!held_part(c, from, end)) return false;
        objects_ += static_cast<std::uint64_t>(more) * C::region_bytes;
        from = end;
      }
    }
    return held_part(c, from, to);
  }

  bool held_part(C& c, std::size_t from, std::size_t to) {
    if constexpr (keeps_regions<C> && counts_held<C>) c.reset_max_held();
    if (!pass(c, from, to, touch::all)) return false;
    if constexpr (counts_held<C>)
      max_held_ = std::max(max_held_, above(c.max_held(), held_before_) + objects_);
    return true;
  }

  void time_operations(C& c) {
    if constexpr (block_allocator<C>) {
      if constexpr (starts_warm<C>)
        if (!whole_pass(c)) return;
      const auto watch = [&](const op* o, const harness::operation_meter& meter) {
        return watched_call(calls_in(c), o, driver_.slots(), job_.touched, meter);
      };
      const auto rest = [&](std::size_t from, std::size_t to) { return replay(c, from, to, job_.touched); };
      const auto end = [&] { c.end_pass(); };
      const std::size_t stop = latency_->run({std::ref(watch), std::ref(rest), std::ref(end)});
      if (served(stop, facts_.ops)) job_.state = harness::work_state::done;
    }
  }

  void count_instructions(C& c) {
    if (!whole_pass(c)) return;
    bool served = false;
    counted_call([&] { served = whole_pass(c); });
    if (served) job_.state = harness::work_state::done;
  }

  [[nodiscard]] bool is_littered() const { return littered_itself<C> && job_.litter != 0; }

  // What the allocator holds with its litter, from which its highest mark is to start; 0 without.
  [[nodiscard]] std::size_t mark_held(C& c) const {
    if constexpr (counts_held<C> && littered_itself<C>) {
      if (is_littered()) {
        c.reset_max_held();
        return c.held();
      }
    }
    return 0;
  }

  // What a stack of heaps holds is what has left its source, not what its top has from the next.
  void record_usage(const C& c)
    requires tells_usage<C>
  {
    const heap_usage usage = c.usage();
    job_.has_usage = true;
    job_.held = c.held();
    job_.carved = usage.carved;
    job_.granted = usage.granted;
  }

  static std::size_t above(std::size_t now, std::size_t before) { return now > before ? now - before : 0; }

  const trace& trace_;
  const trace_facts& facts_;
  job& job_;
  driver<C> driver_;
  std::optional<block_calls> littered_;  // the allocator, where it is littered
  std::optional<harness::litter> litter_;
  std::optional<latency_run> latency_;  // where its operations are timed

  // Of a footprint, in bytes.
  std::uint64_t held_before_ = 0;  // by the littered heap
  std::uint64_t max_held_ = 0;     // so far, with the objects
  std::uint64_t objects_ = 0;      // that the regions alive are
};

template <any_allocator C>
void run(const trace& t, job& j) {
  runner<C> r(t, j);
  if (!r.litter_malloc()) return;
  const std::unique_ptr<void, decltype(&std::free)> shift(shift_malloc(j.shift), &std::free);
  C c(t);
  if (!r.litter_in(c)) return;
  r.run(c);
}

}  // namespace mallard::replay
