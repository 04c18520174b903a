#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include "harness/bytes.hpp"
#include "replay/output/fragmentation.hpp"
#include "replay/output/report.hpp"
#include "replay/output/text_table.hpp"

namespace mallard::replay {
namespace {

using harness::format_bytes;

// Three significant digits at least: 0.42, 12.3, 1234.
std::string ns(double value) { return number(value, value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2); }

std::string count(double value) { return number(value, 0); }

std::string bytes_or_unknown(const std::optional<std::uint64_t>& value) {
  return value ? format_bytes(*value) : unknown;
}

std::string ratio(const row& r, const row* base) {
  if (base == nullptr || r.of->name == "none") return unknown;
  return number(r.warm().median / base->warm().median, 2);
}

// By how much something is more, or less.
template <class Value>
std::string with_sign(Value change, const std::string& amount) {
  return (change > 0 ? "+" : change < 0 ? "-" : "") + amount;
}

std::string ns_change(double value) { return with_sign(value, ns(std::abs(value))); }

std::string bytes_change(std::int64_t value) {
  return with_sign(value, format_bytes(static_cast<std::uint64_t>(std::abs(value))));
}

// Where a column stands: everywhere; where the whole journal is replayed, or a part of the program in it;
// where instructions are counted.
enum class shown { always, whole, part, counted };

bool is_shown(shown where, const report_input& in) {
  const bool is_part = in.facts.part.heaps != 0;
  switch (where) {
    case shown::always:
      return true;
    case shown::whole:
      return !is_part;
    case shown::part:
      return is_part;
    case shown::counted:
      break;
  }
  return in.options.count_instructions;
}

// A column: its heading and what it says of a row.
struct column {
  const char* heading;
  bool left;
  std::string (*cell)(const row&, const report_input&);
  shown where = shown::always;
};

std::string cell_if_measured(const row& r, std::string (*cell)(const row&)) {
  return r.measured() ? cell(r) : unknown;
}

constexpr std::array columns{
    column{"strategy", true, [](const row& r, const report_input&) { return r.label(); }},
    column{"binding", true,
           [](const row& r, const report_input&) { return std::string(name_of(r.of->bound)); }, shown::whole},
    column{"ns/event", false,
           [](const row& r, const report_input&) {
             return cell_if_measured(r, [](const row& m) { return ns(m.warm().median); });
           }},
    column{"spread", false,
           [](const row& r, const report_input&) {
             return cell_if_measured(r, [](const row& m) {
               const harness::spread around = m.warm().around;
               return ns(around.low) + ".." + ns(around.high);
             });
           }},
    column{"x glibc", false,
           [](const row& r, const report_input& in) {
             return r.measured() ? ratio(r, glibc_of(in.rows)) : unknown;
           },
           shown::whole},
    column{"x best malloc", false,
           [](const row& r, const report_input& in) {
             return r.measured() ? ratio(r, best_malloc(in.rows)) : unknown;
           },
           shown::whole},
    column{"change ns/block", false,
           [](const row& r, const report_input& in) {
             const auto change = change_of(r, in);
             return change ? ns_change(change->median) : unknown;
           },
           shown::part},
    column{"its spread", false,
           [](const row& r, const report_input& in) {
             const auto change = change_of(r, in);
             return change ? ns_change(change->around.low) + ".." + ns_change(change->around.high) : unknown;
           },
           shown::part},
    column{"cold ns", false,
           [](const row& r, const report_input&) {
             return cell_if_measured(r, [](const row& m) { return ns(harness::median(m.cold_ns)); });
           }},
    column{"instr", false,
           [](const row& r, const report_input&) {
             return r.instructions ? number(*r.instructions, 1) : unknown;
           },
           shown::counted},
    column{"max held", false, [](const row& r, const report_input&) { return bytes_or_unknown(r.max_held); }},
    column{"change held", false,
           [](const row& r, const report_input& in) {
             const auto change = held_change_of(r, in);
             return change ? bytes_change(*change) : unknown;
           },
           shown::part},
    column{"F", false,
           [](const row& r, const report_input& in) {
             return r.max_held && in.facts.max_live_bytes != 0
                        ? number(
                              static_cast<double>(*r.max_held) / static_cast<double>(in.facts.max_live_bytes),
                              2)
                        : unknown;
           }},
    column{"held after", false,
           [](const row& r, const report_input&) { return bytes_or_unknown(r.held_after); }},
    column{"faults", false,
           [](const row& r, const report_input&) {
             return cell_if_measured(r, [](const row& m) { return count(harness::median(m.page_faults)); });
           }},
    column{"status", true,
           [](const row& r, const report_input&) {
             const std::string status(name_of(r.status));
             return r.reason.empty() ? status : status + ": " + r.reason;
           }},
};

std::string table(const report_input& in) {
  std::vector<column> here;
  std::ranges::copy_if(columns, std::back_inserter(here),
                       [&in](const column& c) { return is_shown(c.where, in); });
  cells lines(1);
  for (const column& c : here) lines[0].emplace_back(c.heading);
  for (const row& r : in.rows) {
    lines.emplace_back();
    for (const column& c : here) lines.back().push_back(c.cell(r, in));
  }
  return aligned(lines, [&here](std::size_t c) { return here[c].left; });
}

std::string percent(double part) { return number(100 * part, 1) + " %"; }

// By how much more, or less, was alive at once than in the journal.
std::string strayed(const row& r, const trace_facts& facts) {
  if (!r.max_live || facts.max_live_bytes == 0) return unknown;
  return percent(static_cast<double>(*r.max_live) / static_cast<double>(facts.max_live_bytes) - 1);
}

// Where heaps were shifted: what each shift alone made of it.
std::string table_of_shifts(const report_input& in) {
  cells lines(1, {"ns/event, faults by shift"});
  for (const std::uint64_t bytes : shifts) lines[0].push_back(std::to_string(bytes) + " B");
  for (const row& r : in.rows) {
    if (r.by_shift.empty()) continue;
    lines.push_back({r.label()});
    for (const row::at_shift& figures : r.by_shift)
      lines.back().push_back(ns(harness::median(figures.warm_ns)) + ", " +
                             count(harness::median(figures.page_faults)));
  }
  return lines.size() == 1 ? std::string() : aligned(lines, [](std::size_t c) { return c == 0; }) + '\n';
}

// On recorded threads: what their taking turns made of it.
std::string table_of_threads(const report_input& in) {
  if (in.facts.of != subject::threads) return {};
  cells lines(1, {"threads", "wall ns/event", "cold wall ns", "waiting ns", "voluntary switches",
                  "involuntary switches", "max live strayed"});
  for (const row& r : in.rows) {
    if (!r.measured()) continue;
    const row::thread_figures& t = r.threads;
    lines.push_back({r.label(), ns(harness::median(t.wall_ns)), ns(harness::median(t.cold_wall_ns)),
                     ns(harness::median(t.waiting_ns)), count(harness::median(t.voluntary_switches)),
                     count(harness::median(t.involuntary_switches)), strayed(r, in.facts)});
  }
  return lines.size() == 1 ? std::string() : aligned(lines, [](std::size_t c) { return c == 0; }) + '\n';
}

// Several copies of the threads at once: what each number of them gets done, and what it costs with most.
std::string table_of_scale(const report_input& in) {
  if (in.options.scale == 0) return {};
  cells lines(1, {"million events/s by copies"});
  for (std::uint64_t n = 1; n <= in.options.scale; ++n) lines[0].push_back(std::to_string(n));
  for (const char* heading : {"CPU ns/event", "contention", "voluntary switches", "involuntary switches"})
    lines[0].emplace_back(heading);
  for (const row& r : in.rows) {
    if (r.scale.empty()) continue;
    lines.push_back({r.label()});
    for (const scale_point& p : r.scale)
      lines.back().push_back(number(harness::median(p.events_per_second) / 1e6, 1));
    lines.back().resize(in.options.scale + 1, unknown);
    const scale_point& most = r.scale.back();
    lines.back().push_back(ns(harness::median(most.cpu_ns)));
    lines.back().push_back(most.contention ? percent(*most.contention) : unknown);
    lines.back().push_back(count(harness::median(most.voluntary_switches)));
    lines.back().push_back(count(harness::median(most.involuntary_switches)));
  }
  return lines.size() == 1 ? std::string() : aligned(lines, [](std::size_t c) { return c == 0; }) + '\n';
}

std::string fragmentation(const report_input& in) {
  if (std::ranges::none_of(in.rows, [](const row& r) { return r.curve.has_value(); })) return {};
  std::string text = aligned(fragmentation_table(in), [](std::size_t c) { return c < 2; });
  for (const std::string& line : walks_left_out(in)) text += line + '\n';
  return text + '\n';
}

std::string heading(const std::string& name, const std::string& text) {
  return padded(name, 14, true) + text + '\n';
}

std::string regions_line(const trace_facts& f) {
  return std::to_string(f.deallocations) + " frees, " + std::to_string(f.creations) + " regions, cleared " +
         std::to_string(f.clears) + " times";
}

std::string threads_line(const trace_facts& f) {
  return std::to_string(f.threads_replayed) + " threads with operations, " +
         std::to_string(f.threads_at_once) + " alive at once; " +
         (f.deallocations == f.never_freed ? "no frees"
                                           : percent(static_cast<double>(f.remote_frees) /
                                                     static_cast<double>(f.deallocations - f.never_freed)) +
                                                 " of the frees by another thread than allocated");
}

std::string part_line(const report_input& in) {
  const part_facts& p = in.facts.part;
  const double all = static_cast<double>(in.facts.allocations + in.facts.reallocations);
  return std::to_string(p.blocks) + " blocks, " + percent(static_cast<double>(p.blocks) / all) +
         " of all, in " + std::to_string(p.heaps) + (p.heaps == 1 ? " heap" : " heaps") +
         " of their own; what is around them in " + std::string(in.options.baseline->name) +
         (in.facts.left_out == 0 ? "" : "; " + std::to_string(in.facts.left_out) + " events are left out");
}

std::string journal_lines(const report_input& in) {
  const trace_facts& f = in.facts;
  std::string text = heading("journal", in.journal + (in.program.empty() ? "" : " (" + in.program + ")"));
  text += heading(
      "",
      std::to_string(f.events) + " events of " + std::to_string(f.threads) + " thread" +
          (f.threads == 1 ? "" : "s") + ": " + std::to_string(f.allocations) + " allocations" +
          (f.callocs == 0 ? "" : " (" + std::to_string(f.callocs) + " callocs)") + ", " +
          (f.of == subject::regions ? regions_line(f) : std::to_string(f.reallocations) + " reallocations") +
          ", " + format_bytes(f.total_bytes) + " in all");
  text += heading("", "most alive at once " + format_bytes(f.max_live_bytes) + "; " +
                          std::to_string(f.max_live_objects) + " blocks" +
                          (f.of == subject::regions ? "; " + std::to_string(f.max_live_regions) + " regions"
                                                    : std::string()));
  if (f.of == subject::threads) text += heading("", threads_line(f));
  if (f.part.heaps != 0) text += heading("part", part_line(in));
  const double millions = static_cast<double>(f.events) / 1e6;
  text += heading("", "read in " + number(in.read_cpu_seconds, 2) + " s of CPU time: " +
                          number(millions / in.read_cpu_seconds, 1) + " million events a second");
  for (const std::string& warning : in.warnings) text += heading("", "warning: " + warning);
  return text;
}

std::string machine_lines(const harness::machine_facts& m) {
  return heading("machine", m.cpu + ", " + std::to_string(m.cores) + " cores, " + format_bytes(m.memory)) +
         heading("",
                 m.kernel + ", " + m.c_library + ", transparent huge pages: " + m.transparent_huge_pages) +
         heading("", m.compiler + ", " + m.flags);
}

}  // namespace

std::string to_text(const report_input& in) {
  std::string text = journal_lines(in) + '\n' + table(in);
  if (!in.options.check_only) {
    text += '\n' + table_of_threads(in) + table_of_scale(in) + table_of_shifts(in) + fragmentation(in) +
            latency_text(in);
    if (!in.options.held_only)
      for (const std::string& line : verdict_of(in)) text += line + '\n';
  }
  text += "\nHow this was measured:\n" + machine_lines(in.machine);
  for (const method_line& line : method_of(in)) text += heading(line.name, line.text);
  return text;
}

std::string strategies_to_text(std::span<const strategy> all) {
  const auto name_length = [](const strategy& s) { return s.name.size(); };
  const std::size_t width = std::ranges::max_element(all, {}, name_length)->name.size() + 2;
  std::string text;
  for (const strategy& s : all) {
    const std::string bound(name_of(s.bound));
    text += s.name + std::string(width - s.name.size(), ' ') + bound + std::string(8 - bound.size(), ' ') +
            s.summary + "\n";
  }
  return text;
}

}  // namespace mallard::replay
