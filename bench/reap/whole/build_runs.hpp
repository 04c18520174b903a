// build_runs: whole runs of one program, its builds in turn, their heaps beginning elsewhere in each round.
//
//     round 1, shift 0: A B C    round 2, shift 64: A B C    ...    round 6, shift 0: A B C
//
// Placement alone reverses close comparisons, so a figure is the median of five: of each shift, the median
// of its rounds. Ratios are made round by round with the first build; where that fails, the run ends
// with the rounds before. Each turn is a process; its CPU time and page faults are what the kernel says of
// it, its start included. Seed 002, section 8.2.
#pragma once

#include <array>
#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/foreign_malloc.hpp"
#include "harness/session.hpp"
#include "harness/statistics.hpp"
#include "harness/work.hpp"

namespace mallard::whole {

// Bytes by which the chunks of a program's heaps are shifted in their pages, and over malloc what it
// allocates.
inline constexpr std::array<std::size_t, 5> shifts = {0, 64, 1024, 2048, 4032};

// A build of a program, and the malloc below it if it uses one.
struct build {
  std::string kind;                                  // as in programs/memory/region_kinds.hpp
  const harness::foreign_malloc* beneath = nullptr;  // null: none is used
  bool again = false;

  [[nodiscard]] std::string name() const;
};

// All of them, which take turns. Seed 002, section 8 (Figures 8 and 9).
//
//     region                  first: the others are compared with it in each round
//     sized_reap ... reap_frees
//     region_emulator glibc, region_emulator jemalloc ...     each malloc of harness/foreign_malloc.hpp
//     individual glibc, individual jemalloc ...
//     region again            the A/A row: what differs from the first is noise
[[nodiscard]] std::vector<build> builds();

// The first, and those whose name or kind is one of these; all, if there are none. A name that is neither of
// any is reported by std::invalid_argument.
[[nodiscard]] std::vector<build> builds(const std::vector<std::string>& names);

struct row {
  build of;
  std::array<std::vector<double>, shifts.size()> cpu_ms;  // by shift, a figure a round
  std::vector<double> ratios;                             // to the first build, a figure a round
  std::vector<double> page_faults;
  std::string reason;  // why it has no more figures, or none; empty: it has all
  harness::row_status status = harness::row_status::ok;  // skipped: it is not its fault that it has none

  [[nodiscard]] bool measured() const { return !page_faults.empty(); }
  // The median over the shifts, and between which two figures of single shifts it lies.
  [[nodiscard]] harness::summary cpu() const;
};

struct work {
  std::string programs;  // the folder
  std::string program;   // "interpreter"
  std::string input;
};

// `times` rounds of each shift. Ends early, with what it has, when interrupted.
[[nodiscard]] std::vector<row> measure(const work& asked, const std::vector<build>& all, std::size_t times);

// The rows of a run as text, and as JSON with the machine and the method around them.
[[nodiscard]] std::string as_text(const std::string& program, const std::vector<row>& rows);
[[nodiscard]] nlohmann::ordered_json as_json(const std::string& program, const std::vector<row>& rows);

// Where the figures come from, for people: the machine and the method, a line each.
[[nodiscard]] std::string method();

}  // namespace mallard::whole
