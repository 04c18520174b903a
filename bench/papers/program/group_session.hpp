// group_session: one group, all its allocators: they take turns, each turn a fresh process.
//
//     round 1: AS1 AS2 ... AS1 (the A/A row)   round 2: ...     until the spreads are narrow enough
//
// An allocator that runs out of memory, or breaks, says so in its row and the others go on. Between turns the
// session asks for Ctrl-C, and then ends with what it has.
//
// A turn is this program again, with hidden arguments, which ends without cleaning up:
//
//     mallard-bench --worker ALLOCATOR PAGE      an index, and the inherited descriptor of the page
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/page.hpp"
#include "harness/session.hpp"
#include "harness/statistics.hpp"
#include "harness/work.hpp"
#include "program/benchmarks.hpp"

namespace mallard::bench {

struct session_options {
  std::vector<std::string> names;  // labels or strategies; empty: all. AS1 takes part in each session
  std::size_t rounds = 5;          // at least; up to three times as many for rows that ask for it
  std::uint64_t memory_limit = 0;  // bytes an allocator may take
};

// More rounds are run while a row's spread is wider than this part of its median ...
inline constexpr double wide_spread = 0.1;

// ... and neither its turns nor those of the first, which takes part in each round, have lasted this long in
// all: where a turn takes seconds, more of them would cost hours.
inline constexpr std::chrono::seconds most_time_for_more{20};

// One figure of an allocator, of every round; empty: not measured.
struct series {
  std::vector<double> cold_ns;
  std::vector<double> warm_ns;
  std::vector<double> wall_ns;
};

struct row : harness::session_row {
  row(const measured_allocator& c, std::size_t allocator_index, bool second_time)
      : session_row(allocator_index, second_time), of(&c) {}

  const measured_allocator* of;
  std::vector<series> figures;
  std::vector<double> page_faults;                   // of the first life of a heap
  std::vector<double> max_held;                      // bytes
  std::vector<double> failed_locks;                  // empty: not counted
  std::array<std::uint64_t, most_counts> counted{};  // of the latest round
  std::chrono::nanoseconds took{};                   // all turns so far

  [[nodiscard]] bool measured() const { return !page_faults.empty(); }
};

// Whether the spread of a row asks for more rounds: of several figures the median of their spreads, so that
// one of many does not make everybody wait.
[[nodiscard]] bool is_wide(const row& r);

// Whether a row gets one more round, `first` being that of AS1.
[[nodiscard]] bool wants_more(const row& r, const row& first);

class group_session : public harness::session<row> {
 public:
  // Precondition: all names are known.
  group_session(const setting& asked, session_options options);

  void run();

  [[nodiscard]] const setting& asked() const { return asked_; }
  [[nodiscard]] const session_options& options() const { return options_; }

 private:
  void leave_out_what_cannot_be();
  harness::turn_result turn(row& r);

  setting asked_;
  session_options options_;
};

inline constexpr const char* worker_flag = "--worker";

[[nodiscard]] std::vector<std::string> worker_arguments(std::size_t allocator, int page_descriptor);

// Precondition: arguments made by worker_arguments.
[[noreturn]] void be_worker(int argc, char** argv);

// group_json: a finished session as JSON: {"benchmark", "group", "machine", "method", "rows": [...]}.
//
// A row a figure of an allocator: what tells it from the allocator's others stands in it. What was not
// measured is null.

[[nodiscard]] std::string to_json(const group_session& done);

// The allocators of a benchmark: label, strategy, binding, destruction.
[[nodiscard]] std::string allocators_json(benchmark which);

// The machine as it stands in each group.
[[nodiscard]] std::string machine_json();

}  // namespace mallard::bench
