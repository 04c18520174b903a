// row: what became of one strategy: a line of the table, an element of "rows" in JSON.
//
// Where heaps are shifted, a round's figure is the median over the shifts.
//
// What was not measured, or cannot be known, is absent (null in JSON), never 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/session.hpp"
#include "harness/statistics.hpp"
#include "harness/work.hpp"
#include "replay/allocator/strategy.hpp"
#include "replay/latency/located_operation.hpp"
#include "replay/latency/thinned_times.hpp"
#include "replay/run/held_curve.hpp"

namespace mallard::replay {

using harness::row_status;

// The result of several copies of a trace's threads at once; figures one a round, of a warm pass.
struct scale_point {
  std::vector<double> events_per_second;  // of all copies together, by wall time
  std::vector<double> cpu_ns;             // an operation, without the replay's own waits
  std::vector<double> voluntary_switches;
  std::vector<double> involuntary_switches;
  std::optional<double> contention;  // part of the attempts to lock that found another thread there
};

struct drawn_curve {
  explicit drawn_curve(const held_curve& c)
      : points(c.points.begin(), c.points.begin() + static_cast<std::ptrdiff_t>(c.count)),
        walks_left_out(c.walks_left_out),
        marks(c.marks) {}

  std::vector<curve_point> points;
  std::uint64_t walks_left_out;
  curve_marks marks;
};

struct row : harness::session_row {
  row(const strategy& s, std::size_t strategy_index, bool second_time)
      : session_row(strategy_index, second_time), of(&s) {}

  const strategy* of;

  // One figure a round: CPU ns an operation, net of the baseline (of `none`: as measured).
  std::vector<double> warm_ns;
  std::vector<double> cold_ns;
  std::vector<double> page_faults;  // of the cold pass
  // The same, one a turn, for each of the places where the heap has started; empty: it was not shifted.
  struct at_shift {
    std::vector<double> warm_ns;
    std::vector<double> cold_ns;
    std::vector<double> page_faults;
  };
  std::vector<at_shift> by_shift;
  std::uint64_t warm_passes = 0;  // of all rounds together

  // Of a trace of threads, one figure a round. Wall and waiting times are ns an operation as measured,
  // switches are of one warm pass and the strategy's own.
  struct thread_figures {
    std::vector<double> wall_ns;
    std::vector<double> cold_wall_ns;
    std::vector<double> waiting_ns;
    std::vector<double> voluntary_switches;
    std::vector<double> involuntary_switches;
  };
  thread_figures threads;
  std::optional<std::uint64_t> max_live;  // bytes alive at most, as its threads went
  std::vector<scale_point> scale;         // the n-th is of n + 1 copies; fewer where more could not be run

  std::optional<std::uint64_t> max_held;
  std::optional<std::uint64_t> held_after;
  // At the moment of most live bytes.
  std::optional<std::uint64_t> internal;
  std::optional<std::uint64_t> header;
  std::optional<std::uint64_t> external;
  std::optional<drawn_curve> curve;
  std::optional<double> instructions;  // an operation, net of the baseline's

  struct single_operations {
    latencies figures;
    std::vector<located_operation> worst;  // the slowest first
    thinned_times times;
    bool pinned = false;  // whether each worker stayed on one CPU
  };
  std::optional<single_operations> single;

  // The figures of a round: one, or one for each shift.
  void add_round(const at_shift& turn) {
    warm_ns.push_back(harness::median(turn.warm_ns));
    cold_ns.push_back(harness::median(turn.cold_ns));
    page_faults.push_back(harness::median(turn.page_faults));
    if (turn.warm_ns.size() == 1) return;
    by_shift.resize(turn.warm_ns.size());
    for (std::size_t k = 0; k < by_shift.size(); ++k) {
      by_shift[k].warm_ns.push_back(turn.warm_ns[k]);
      by_shift[k].cold_ns.push_back(turn.cold_ns[k]);
      by_shift[k].page_faults.push_back(turn.page_faults[k]);
    }
  }

  [[nodiscard]] std::string label() const { return repeated ? of->name + " a/a" : of->name; }
  [[nodiscard]] bool measured() const { return !warm_ns.empty(); }
  [[nodiscard]] harness::summary warm() const { return harness::summarise(warm_ns); }
};

}  // namespace mallard::replay
