// replay_session: a trace against strategies, from the choice of rows to the finished ones.
//
//     check each --> measure, alternated: A B C A B C ... --> footprint of each
//                                               [--> curve, single operations, instructions, scale]
//
// Every step of every row is a worker process of its own (measured with shifts: one for each of them). A row
// that fails its check is not measured; one that runs out of memory says so and the others go on. Between
// workers the session asks for Ctrl-C and then ends with what it has. `none` (the baseline) takes part in
// every session, and so does glibc: without it no row could be a ratio. The first malloc is measured twice:
// the A/A row. Where a part of the program is replayed, the malloc around it is what glibc is elsewhere, and
// takes part in every round, as changes are from one figure to another of the same round.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/foreign_malloc.hpp"
#include "harness/operation_clock.hpp"
#include "harness/session.hpp"
#include "harness/terminal.hpp"
#include "replay/session/row.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::replay {

struct session_options {
  std::vector<std::string> names;       // empty: all; of a part, no malloc but the one around it
  std::optional<binding> only_binding;  // of those
  std::size_t rounds = 5;
  std::size_t most_rounds = 0;     // where figures are unsteady; 0: three times as many
  std::uint64_t memory_limit = 0;  // bytes an allocator may hold
  std::uint64_t warm_ns = 200'000'000;
  touch touched = touch::first;
  std::uint64_t litter = 0;  // times the live blocks; 0: the heap is fresh
  bool shift = false;        // measure with the heap's start at each of `shifts`
  bool curve = false;        // draw what is held over the events
  bool check_only = false;
  bool held_only = false;  // measure memory alone, unchecked
  bool count_instructions = false;
  std::uint64_t scale = 0;           // of a trace of threads: most copies at once; 0: one, and no scale
  std::uint64_t latency_passes = 0;  // in which single operations are timed; 0: they are not
  const harness::foreign_malloc* baseline = nullptr;  // of a part: what all around it goes to
};

// More rounds are run while a row's spread is wider than this part of its median.
inline constexpr double wide_spread = 0.1;

// Bytes by which heaps begin further into their pages. Where blocks lie in lines, sets and pages has
// reversed comparisons of allocators before; the median over these does not depend on one of them.
inline constexpr std::array<std::uint64_t, 5> shifts{0, 64, 1024, 2048, 4032};

class replay_session : public harness::session<row> {
 public:
  // Precondition: all names are known.
  replay_session(const trace& t, session_options options);

  void run();

  // What single operations were timed by, if they were.
  [[nodiscard]] const std::optional<harness::operation_clock>& clock() const { return clock_; }

 private:
  void choose_rows();
  void check_rows();
  void measure_rows();
  void weigh_rows();
  void draw_rows();
  void time_operations();
  void time_operations(row& r, const harness::shared_file& log);
  void count_rows();
  void scale_rows(std::uint64_t copies);
  bool serves(row& r, std::uint64_t copies);
  harness::turn_result scale(row& r, std::uint64_t copies);
  void count_contention(row& r);

  // Has a job done without which a row is complete: where that fails, what was measured before stands, and
  // the reason says so.
  bool work_beside(row& r, job& task, const char* not_done);
  harness::turn_result measure(std::size_t round, row& r);
  [[nodiscard]] std::size_t turns() const { return options_.shift ? shifts.size() : 1; }
  void add_threads(row& r, const job& task) const;
  harness::turn_result without_baseline();
  [[nodiscard]] bool is_unsettled(const row& r) const;
  // Whether others are compared with it: glibc, or what is around a part.
  [[nodiscard]] bool is_reference(const strategy& s) const;
  // Runs a job in a worker; false if the row's status now says why it could not be done.
  bool work(row& r, job& task);

  const trace& trace_;
  session_options options_;
  harness::progress progress_;
  std::optional<harness::operation_clock> clock_;
  std::vector<double> warm_baseline_;  // by round, then shift: CPU ns of a pass of `none`
  std::vector<double> cold_baseline_;
};

}  // namespace mallard::replay
