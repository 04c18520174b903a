// curve_pass: a pass over what the program did that draws what allocator C holds.
//
//     counts at its source     op, op, op ...  what it holds after each is asked; the highest mark in between
//     a malloc                 stop ... stop   resident memory at each, its peak in between by the kernel
//
// Granted bytes are walked for at the stops, where C tells its usage. A walk, of a heap or of the page
// tables, takes longer the more is held: all walks of a pass share a budget of CPU time and are left out
// where they exceed it, but for those at the moment of most live bytes and at the end. A malloc's stretch
// then goes on to the next stop. The chunk cache keeps what it has meanwhile, so that a curve does not depend
// on its own speed.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "harness/cpu_clock.hpp"
#include "harness/memory_meter.hpp"
#include "mallard/source/default_source.hpp"
#include "replay/run/held_curve.hpp"
#include "replay/run/pass.hpp"
#include "replay/run/region_pass.hpp"
#include "replay/trace/live_walk.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::replay {

// curve_plan: where a curve over a trace has its points, before any allocator has run.
//
//     ops      |------------|------------|------------|     499 stretches of as many operations each
//     stops          !      !         !  !  !         !     where most is live in each, and its end
//
// The moment of most live bytes of the whole trace is among them. Where there are few enough operations, each
// is a stop. The ends that the program left out are not part of it. Made by one walk; afterwards a stop knows
// what is live there, so that a pass that is measured from outside has nothing to count. O(ops).
struct curve_stop {
  std::size_t op = 0;            // index behind the last one of the stretch
  std::uint64_t event = 0;       // operations up to there
  std::uint64_t live = 0;        // bytes there
  std::uint64_t regions = 0;     // alive there
  double inverse_live = 0;       // sum of 1/live after each operation since the stop before
  std::uint64_t operations = 0;  // how many these are: those after which something is live
};

class curve_plan {
 public:
  explicit curve_plan(const trace& t) {
    const std::size_t ops = t.facts().recorded_ops;
    const std::uint64_t operations = operations_in(t, ops);
    const bool all = operations <= stops_.size();
    const std::uint64_t stretches = all ? operations : stops_.size() / 2;
    const auto stretch_of = [&](std::uint64_t event) { return (event - 1) * stretches / operations; };

    curve_stop since;    // what has been walked since the last stop
    curve_stop fullest;  // the same, up to where most is live in this stretch
    live_walk walk(t);
    for (std::size_t i = 0; i < ops; ++i) {
      if (!walk.next()) continue;
      since.op = i + 1;
      since.event = walk.operations();
      since.live = walk.bytes();
      since.regions = walk.regions();
      if (since.live != 0) {
        since.inverse_live += 1 / static_cast<double>(since.live);
        ++since.operations;
      }
      if (fullest.op == 0 || since.live > fullest.live) fullest = since;
      if (since.event != operations && stretch_of(since.event) == stretch_of(since.event + 1)) continue;
      if (fullest.op != since.op) {
        stops_[count_++] = fullest;
        since.inverse_live -= fullest.inverse_live;
        since.operations -= fullest.operations;
      }
      stops_[count_++] = since;
      since = fullest = {};
    }
    fullest_ =
        static_cast<std::size_t>(std::ranges::max_element(stops(), {}, &curve_stop::live) - stops().begin());
  }

  [[nodiscard]] std::span<const curve_stop> stops() const noexcept { return std::span(stops_).first(count_); }

  // The index of the stop where most is live, the first of them.
  [[nodiscard]] std::size_t fullest() const noexcept { return fullest_; }

 private:
  static std::uint64_t operations_in(const trace& t, std::size_t ops) {
    live_walk walk(t);
    for (std::size_t i = 0; i < ops; ++i) walk.next();
    return walk.operations();
  }

  std::array<curve_stop, curve_recorder::most_stretches> stops_;
  std::size_t count_ = 0;
  std::size_t fullest_ = 0;
};

// Of a program: what the objects of its regions take beside C.
template <class C>
[[nodiscard]] constexpr std::uint64_t bytes_of_regions(std::uint64_t regions) noexcept {
  if constexpr (keeps_regions<C>)
    return regions * C::region_bytes;
  else
    return 0;
}

// Spends CPU time evenly over a pass.
class walk_budget {
 public:
  explicit walk_budget(std::uint64_t ns) noexcept : ns_(ns) {}

  // Whether another walk like the last is affordable when `done` of `all` stops have come.
  [[nodiscard]] bool affords(std::size_t done, std::size_t all) const noexcept {
    return static_cast<double>(spent_ + last_) * static_cast<double>(all) <=
           static_cast<double>(ns_) * static_cast<double>(done);
  }

  template <class Walk>
  auto spend(Walk walk) {
    const std::uint64_t start = harness::thread_cpu_ns();
    auto result = walk();
    last_ = harness::thread_cpu_ns() - start;
    spent_ += last_;
    return result;
  }

 private:
  std::uint64_t ns_;
  std::uint64_t spent_ = 0;
  std::uint64_t last_ = 0;
};

// Keeps the chunk cache of the process from giving back what nobody has asked for, for as long as it lives.
class kept_chunks {
 public:
  kept_chunks() noexcept : usual_(process_chunks().keep_time()) {
    process_chunks().set_keep_time(~std::uint64_t{0});
  }
  ~kept_chunks() { process_chunks().set_keep_time(usual_); }
  kept_chunks(const kept_chunks&) = delete;
  kept_chunks& operator=(const kept_chunks&) = delete;

 private:
  std::uint64_t usual_;
};

// `replay`(from, to) performs these ops, every byte written; false: one could not be served.
template <class C, class Replay>
class curve_pass {
 public:
  static constexpr std::uint64_t usual_walk_ns = 2'000'000'000;

  // held_before: bytes that C holds beforehand, as litter. Where there are any, it is unknown which of the
  // granted bytes are the trace's.
  curve_pass(const C& c, const trace& t, std::uint64_t held_before, Replay replay, held_curve& into,
             std::uint64_t walk_ns = usual_walk_ns)
      : c_(c),
        trace_(t),
        held_before_(held_before),
        replay_(replay),
        curve_(into),
        recorder_(into),
        walks_(walk_ns),
        plan_(t) {}

  // False where `replay` was.
  bool run() {
    const kept_chunks kept;
    if constexpr (counts_held<C>)
      return run_counted();
    else
      return run_sampled();
  }

 private:
  bool run_counted() {
    live_walk walk(trace_);
    std::uint64_t last_mark = c_.max_held();
    std::uint64_t held = 0;
    std::size_t i = 0;
    for (std::size_t k = 0; k < plan_.stops().size(); ++k) {
      for (const std::size_t to = plan_.stops()[k].op; i < to; ++i) {
        if (!replay_(i, i + 1)) return false;
        if (!walk.next()) continue;
        held = with_objects(c_.held(), walk.regions());
        const std::uint64_t mark = c_.max_held();
        const bool was_passed = mark > std::exchange(last_mark, mark);
        const std::uint64_t most = was_passed ? with_objects(mark, walk.regions()) : held;
        recorder_.add(walk.operations(), walk.bytes(), held, most);
        if (walk.bytes() != 0)
          recorder_.weigh(static_cast<double>(held), 1 / static_cast<double>(walk.bytes()), 1);
      }
      if (k == plan_.fullest()) curve_.marks.held_at_max_live = held;
      recorder_.close(granted_at(k));
    }
    recorder_.finish();
    return true;
  }

  bool run_sampled() {
    harness::map_in_code();
    harness::reset_peak();
    const std::size_t before = harness::resident_exactly();
    std::uint64_t last = 0;
    std::size_t from = 0;
    double inverse_live = 0;
    std::uint64_t operations = 0;
    for (std::size_t k = 0; k < plan_.stops().size(); ++k) {
      const curve_stop& stop = plan_.stops()[k];
      if (!replay_(std::exchange(from, stop.op), stop.op)) return false;
      inverse_live += stop.inverse_live;
      operations += stop.operations;
      if (!affords_walk(k)) continue;
      const std::size_t resident = walks_.spend(harness::resident_exactly);
      const std::uint64_t peak = harness::peak_resident();
      harness::reset_peak();
      const std::uint64_t objects = bytes_of_regions<C>(stop.regions);
      const std::uint64_t now = above(resident, before) + objects;
      const std::uint64_t most = now + above(peak, harness::peak_resident());
      recorder_.add(stop.event, stop.live, std::min(last, now), std::max(last, most));
      recorder_.weigh(mean_of_steps(last, now, operations), inverse_live, operations);
      if (k == plan_.fullest()) curve_.marks.held_at_max_live = now;
      recorder_.close(unknown_bytes);
      last = now;
      inverse_live = 0;
      operations = 0;
    }
    recorder_.finish();
    return true;
  }

  // Whether there is a walk at this stop.
  bool affords_walk(std::size_t k) noexcept {
    const std::size_t all = plan_.stops().size();
    if (k == plan_.fullest() || k + 1 == all || walks_.affords(k + 1, all)) return true;
    ++curve_.walks_left_out;
    return false;
  }

  std::uint64_t granted_at(std::size_t k) {
    if constexpr (tells_usage<C>)
      if (held_before_ == 0 && affords_walk(k)) return walks_.spend([this] { return c_.usage(); }).granted;
    return unknown_bytes;
  }

  [[nodiscard]] std::uint64_t with_objects(std::size_t held, std::uint64_t regions) const noexcept {
    return above(held, held_before_) + bytes_of_regions<C>(regions);
  }

  // The mean of the figures after each of some operations, over which they went evenly from one to another.
  static double mean_of_steps(std::uint64_t from, std::uint64_t to, std::uint64_t steps) {
    if (steps == 0) return 0;
    const auto first = static_cast<double>(from);
    const auto n = static_cast<double>(steps);
    return first + (static_cast<double>(to) - first) * (n + 1) / (2 * n);
  }

  static std::uint64_t above(std::size_t now, std::size_t before) { return now > before ? now - before : 0; }

  const C& c_;
  const trace& trace_;
  std::uint64_t held_before_;
  Replay replay_;
  held_curve& curve_;
  curve_recorder recorder_;
  walk_budget walks_;
  curve_plan plan_;
};

}  // namespace mallard::replay
