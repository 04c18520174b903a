// Tables of single operations: percentiles of each kind, and the worst ones.
#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "harness/bytes.hpp"
#include "replay/output/report.hpp"
#include "replay/output/text_table.hpp"

namespace mallard::replay {
namespace {

using harness::format_bytes;

// Clocks are no finer than this.
std::string whole_ns(double value) { return number(value, 0); }

bool is_left(std::size_t column) { return column < 2; }

std::vector<std::string> beginning(const row& r) { return {r.label(), std::string(name_of(r.of->bound))}; }

// What a strategy's allocations and frees took, or two other kinds, each in four columns.
std::string table_of(const report_input& in, std::array<operation, 2> kinds,
                     percentiles latency_figures::* which) {
  cells lines(1, {"strategy", "binding"});
  for (const operation kind : kinds)
    for (const char* heading : {"p50", "p99", "p99.9", "max"})
      lines[0].push_back((heading == std::string("p50") ? std::string(name_of(kind)) + " " : "") + heading);
  for (const row& r : in.rows) {
    if (!r.single) continue;
    lines.push_back(beginning(r));
    for (const operation kind : kinds) {
      const latency_figures& figures = r.single->figures[kind];
      const percentiles& p = figures.*which;
      for (const double value : {p.p50, p.p99, p.p999, p.max})
        lines.back().push_back(figures.count == 0 ? unknown : whole_ns(value));
    }
  }
  return aligned(lines, is_left);
}

bool happen(const report_input& in, operation kind) {
  return std::ranges::any_of(in.rows,
                             [kind](const row& r) { return r.single && r.single->figures[kind].count != 0; });
}

std::string worst_of(const report_input& in) {
  constexpr std::size_t few = 3;
  cells lines(1, {"strategy", "binding", "ns", "event", "operation", "call", "bytes", "live blocks", "live",
                  "faults"});
  for (const row& r : in.rows) {
    if (!r.single) continue;
    const bool asked_for = std::ranges::find(in.options.names, r.of->name) != in.options.names.end();
    const std::span<const located_operation> worst(r.single->worst);
    for (const located_operation& w : asked_for ? worst : worst.first(std::min(few, worst.size()))) {
      lines.push_back(beginning(r));
      const std::string size = std::to_string(w.size);
      for (const std::string& cell :
           {whole_ns(w.ns), std::to_string(w.event), std::to_string(w.op), std::string(name_of(w.kind)),
            w.old_size ? std::to_string(*w.old_size) + " to " + size : size, std::to_string(w.live_blocks),
            format_bytes(w.live_bytes), std::to_string(w.faults)})
        lines.back().push_back(cell);
    }
  }
  return aligned(lines, is_left);
}

}  // namespace

std::string latency_text(const report_input& in) {
  if (!in.clock || std::ranges::none_of(in.rows, [](const row& r) { return r.single.has_value(); }))
    return {};
  constexpr std::array common{operation::allocation, operation::deallocation};
  constexpr std::array others{operation::reallocation, operation::calloc};
  const std::string passes = std::to_string(in.options.latency_passes);
  const bool has_others = happen(in, others[0]) || happen(in, others[1]);
  const auto both = [&](percentiles latency_figures::* which) {
    return table_of(in, common, which) + (has_others ? '\n' + table_of(in, others, which) : "") + '\n';
  };
  return "Single operations in ns, of each the lowest of " + passes + " passes: the strategy's own time\n" +
         both(&latency_figures::minimum) + "Single operations in ns, as they came in " + passes +
         " passes: with what the system did meanwhile\n" + both(&latency_figures::raw) +
         "Single operations in ns, as they came in the first pass of each process, on a fresh heap\n" +
         both(&latency_figures::cold) + "The worst by their lowest time\n" + worst_of(in) + '\n';
}

}  // namespace mallard::replay
