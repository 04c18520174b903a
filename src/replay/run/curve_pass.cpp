#include "replay/run/curve_pass.hpp"

#include <algorithm>
#include <utility>

#include "harness/cpu_clock.hpp"
#include "harness/memory_meter.hpp"
#include "replay/trace/live_walk.hpp"

namespace mallard::replay {
namespace {

std::uint64_t operations_in(const trace& t, std::size_t ops) {
  live_walk walk(t);
  for (std::size_t i = 0; i < ops; ++i) walk.next();
  return walk.operations();
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

class drawing {
 public:
  drawing(held_calls c, const trace& t, std::uint64_t held_before, const span_replay& replay,
          held_curve& into, std::uint64_t walk_ns)
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
    return c_.counts() ? run_counted() : run_sampled();
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
      const std::uint64_t objects = c_.bytes_of(stop.regions);
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
    if (!c_.tells_usage() || held_before_ != 0 || !affords_walk(k)) return unknown_bytes;
    return walks_.spend([this] { return c_.usage(); }).granted;
  }

  [[nodiscard]] std::uint64_t with_objects(std::size_t held, std::uint64_t regions) const noexcept {
    return above(held, held_before_) + c_.bytes_of(regions);
  }

  // The mean of the figures after each of some operations, over which they went evenly from one to another.
  static double mean_of_steps(std::uint64_t from, std::uint64_t to, std::uint64_t steps) {
    if (steps == 0) return 0;
    const auto first = static_cast<double>(from);
    const auto n = static_cast<double>(steps);
    return first + (static_cast<double>(to) - first) * (n + 1) / (2 * n);
  }

  static std::uint64_t above(std::size_t now, std::size_t before) { return now > before ? now - before : 0; }

  held_calls c_;
  const trace& trace_;
  std::uint64_t held_before_;
  const span_replay& replay_;
  held_curve& curve_;
  curve_recorder recorder_;
  walk_budget walks_;
  curve_plan plan_;
};

}  // namespace

curve_plan::curve_plan(const trace& t) {
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

bool curve_pass(held_calls c, const trace& t, std::uint64_t held_before, const span_replay& replay,
                held_curve& into, std::uint64_t walk_ns) {
  return drawing(c, t, held_before, replay, into, walk_ns).run();
}

}  // namespace mallard::replay
