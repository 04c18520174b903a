// report: a finished session as a table for people and as JSON for programs.
//
// JSON: {"journal": {...}, "machine": {...}, "method": {...}, "litter": K, "shifts": [...], "latency": {...},
// "rows": [{...}]}, the rows' fields as in the project's naming rules; what is not known is null; K is 0 for
// fresh heaps. A row has `by_shift`, its medians in the order of "shifts", which is null where heaps were not
// shifted, as "latency" is where single operations were not timed, and "part" where the whole journal was
// replayed; of a part, rows have their changes. The text has the same figures, each time
// also as a ratio to glibc and to the best malloc, and ends with a verdict in words.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/machine.hpp"
#include "harness/operation_clock.hpp"
#include "replay/session/replay_session.hpp"
#include "replay/trace/size_distribution.hpp"

namespace mallard::replay {

struct report_input {
  std::string journal;  // path
  std::string program;  // what was recorded; empty: unknown
  std::vector<std::string> warnings;
  const trace_facts& facts;
  double read_cpu_seconds;  // what reading and pairing the events took
  harness::machine_facts machine;
  const session_options& options;
  const std::vector<row>& rows;
  std::optional<harness::operation_clock> clock = {};  // of single operations, if they were timed
  std::vector<size_count> sizes = {};                  // asked for; none of regions
};

[[nodiscard]] std::string to_json(const report_input& in);

[[nodiscard]] std::string to_text(const report_input& in);

// What single operations took, as tables below the strategies'; empty if they were not timed.
[[nodiscard]] std::string latency_text(const report_input& in);

// Name, binding and summary of each strategy.
[[nodiscard]] std::string strategies_to_json(std::span<const strategy> all);
[[nodiscard]] std::string strategies_to_text(std::span<const strategy> all);

// How the figures came about: one line a fact, the same in both forms.
struct method_line {
  std::string name;
  std::string text;
};
[[nodiscard]] std::vector<method_line> method_of(const report_input& in);

// A strategy that holds more than this part of what the best malloc holds is not called a gain
// without saying so; on littered heaps, where that may be next to nothing, both are said in bytes.
inline constexpr double most_memory = 1.5;

// Where a part of the program is replayed, by how much its strategy changes what the malloc around it would
// take for it, too; absent where either was not measured, and of `none`.
//   change_of         CPU ns a block of the part, from that malloc's figure of the same round
//   held_change_of    bytes held at most, by both together
[[nodiscard]] std::optional<harness::summary> change_of(const row& r, const report_input& in);
[[nodiscard]] std::optional<std::int64_t> held_change_of(const row& r, const report_input& in);

// The best row of each kind, and what that means: one or two plain sentences. The second is of a part.
[[nodiscard]] std::vector<std::string> verdict_of(const report_input& in);
[[nodiscard]] std::vector<std::string> part_verdict_of(const report_input& in);

// The malloc with the lowest warm median, glibc, and the row so labelled; null where not measured.
[[nodiscard]] const row* best_malloc(const std::vector<row>& rows);
[[nodiscard]] const row* glibc_of(const std::vector<row>& rows);
[[nodiscard]] const row* row_of(const std::vector<row>& rows, std::string_view label);

}  // namespace mallard::replay
