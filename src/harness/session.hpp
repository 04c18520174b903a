// session<Row>: a run of a table: allocators take turns, each turn in a worker process, until it is
// interrupted.
//
//     turn --> job on a shared page --launch--> worker --> the job done, or why it is not --> row
//
// What replays and the papers' benchmarks share; what a turn measures is theirs. Between turns the session
// asks for Ctrl-C and then ends with what it has. A row that fails says so, and the others go on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/foreign_malloc.hpp"
#include "harness/launcher.hpp"
#include "harness/mapping.hpp"
#include "harness/terminal.hpp"
#include "harness/work.hpp"

namespace mallard::harness {

// alternate: allocators take turns, so that what disturbs the machine disturbs all of them.
//
//     round 1: A B C   round 2: A B C   ...   extra round: A C      (B's spread is narrow enough)
//
// Every allocator gets `least` rounds; then those whose spread still asks for it get more, up to
// `most`, and allocator 0, the one others are compared with inside a round, takes part in each.
// An allocator that cannot go on is left out from then on.
struct round_limits {
  std::size_t least = 5;
  std::size_t most = 15;
};

enum class turn_result { go_on, leave_out, stop_all };

// measure(round, allocator) -> turn_result;  needs_more(allocator) -> bool, asked after each round
// from `least` on.
template <class Measure, class NeedsMore>
void alternate(std::size_t allocators, round_limits limits, Measure measure, NeedsMore needs_more) {
  std::vector<bool> in(allocators, true);
  for (std::size_t round = 0; round < limits.most; ++round) {
    std::vector<bool> wanted = in;
    if (round >= limits.least) {
      bool any = false;
      for (std::size_t c = 0; c < allocators; ++c) any |= wanted[c] = in[c] && needs_more(c);
      if (!any) return;
      wanted[0] = in[0];
    }
    for (std::size_t c = 0; c < allocators; ++c) {
      if (!wanted[c]) continue;
      switch (measure(round, c)) {
        case turn_result::go_on:
          break;
        case turn_result::leave_out:
          in[c] = false;
          break;
        case turn_result::stop_all:
          return;
      }
    }
  }
}

// What each row of a table has.
struct session_row {
  session_row(std::size_t which, bool second_time) : index(which), repeated(second_time) {}

  // Before anything is measured.
  void skip(std::string why) {
    status = row_status::skipped;
    reason = std::move(why);
  }

  std::size_t index;  // of the allocator, in the list of all
  bool repeated;      // the A/A row: an allocator measured a second time
  row_status status = row_status::ok;
  std::string reason;
};

// This program as a worker, under the malloc of an allocator, null for the usual one.
[[nodiscard]] inline launch_plan worker_plan(std::vector<std::string> arguments,
                                             const foreign_malloc* beneath) {
  return {std::filesystem::read_symlink("/proc/self/exe"), std::move(arguments),
          beneath == nullptr ? std::vector<std::string>{} : environment_for(*beneath)};
}

// Row: a session_row with `measured()`.
template <class Row>
class session {
 public:
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  [[nodiscard]] bool was_interrupted() const { return interrupted_; }
  [[nodiscard]] bool any_failed() const {
    return std::ranges::any_of(rows_, [](const Row& r) { return r.status == row_status::failed; });
  }

 protected:
  explicit session(std::size_t job_bytes) : page_(job_bytes) {}

  // Has a job done; nothing where the row's status now says why it could not be, or after an interruption.
  template <class Job>
  std::optional<outcome> work(Row& r, Job& task, const launch_plan& plan) {
    const Job& shared = *::new (page_.data()) Job(task);
    outcome end = launch(plan);
    task = shared;
    if (stop_here()) return {};
    ending became = ending_of(task, end);
    if (became.status == row_status::ok) return end;
    r.status = became.status;
    r.reason = std::move(became.reason);
    return {};
  }

  bool stop_here() {
    interrupted_ = interrupted_ || interrupted();
    return interrupted_;
  }

  // At the end: what had no turn says so.
  void skip_unmeasured() {
    for (Row& r : rows_)
      if (interrupted_ && r.status == row_status::ok && !r.measured())
        r.skip("interrupted before it was measured");
  }

  shared_file page_;  // of the job
  std::vector<Row> rows_;
  bool interrupted_ = false;
};

}  // namespace mallard::harness
