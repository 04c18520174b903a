#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "harness/machine.hpp"
#include "replay/output/fragmentation.hpp"
#include "replay/output/report.hpp"

namespace mallard::replay {
namespace {

using json = nlohmann::ordered_json;

template <class T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

json percentiles_json(const percentiles& p) {
  return {{"min", p.min},   {"p25", p.p25},
          {"p50", p.p50},   {"p75", p.p75},
          {"p90", p.p90},   {"p99", p.p99},
          {"p999", p.p999}, {"p9999", p.p9999},
          {"max", p.max},   {"tail", std::span(p.tail).first(p.tail_count)}};
}

// Every operation as it came, the lowest time of each, and the first pass; all null where there are none.
json latencies_json(const row& r, operation kind) {
  json result = percentiles_json({});
  for (json& value : result) value = nullptr;
  const bool timed = r.single && r.single->figures[kind].count != 0;
  if (timed) result = percentiles_json(r.single->figures[kind].raw);
  result["count"] = timed ? json(r.single->figures[kind].count) : json(nullptr);
  result["minimum"] = timed ? percentiles_json(r.single->figures[kind].minimum) : json(nullptr);
  result["cold"] = timed ? percentiles_json(r.single->figures[kind].cold) : json(nullptr);
  return result;
}

json worst_json(const row& r) {
  if (!r.single) return nullptr;
  json list = json::array();
  for (const located_operation& w : r.single->worst)
    list.push_back({{"ns", w.ns},
                    {"event", w.event},
                    {"operation", w.op},
                    {"call", name_of(w.kind)},
                    {"size", w.size},
                    {"old_size", or_null(w.old_size)},
                    {"live_blocks", w.live_blocks},
                    {"live", w.live_bytes},
                    {"page_faults", w.faults}});
  return list;
}

// Of each operation the lowest time, thinned out.
json operations_json(const row& r) {
  if (!r.single) return nullptr;
  json arrays;
  for (const char* name : {"event", "ns", "size", "call"}) arrays[name] = json::array();
  for (const located_operation& o : r.single->times.kept) {
    arrays["event"].push_back(o.event);
    arrays["ns"].push_back(o.ns);
    arrays["size"].push_back(o.size);
    arrays["call"].push_back(o.kind);
  }
  const std::optional<time_grid>& grid = r.single->times.grid;
  arrays["stretches"] = grid ? json(grid->stretches) : json(nullptr);
  arrays["steps_per_doubling"] = grid ? json(grid->steps_per_doubling) : json(nullptr);
  return arrays;
}

json sizes_json(const report_input& in) {
  if (in.facts.of == subject::regions) return nullptr;
  json list = json::array();
  for (const size_count& s : in.sizes)
    list.push_back({{"from", s.from}, {"to", s.to}, {"allocations", s.allocations}});
  return list;
}

json latency_json(const report_input& in) {
  if (!in.clock) return nullptr;
  return {{"passes", in.options.latency_passes},
          {"clock", in.clock->tsc ? "tsc" : "CLOCK_MONOTONIC_RAW"},
          {"ns_per_tick", in.clock->ns_per_tick},
          {"quantum_ns", in.clock->ns(in.clock->quantum)},
          {"overhead_ns", in.clock->ns(in.clock->overhead)}};
}

json regions_json(const trace_facts& f) {
  if (f.of != subject::regions) return nullptr;
  return {{"created", f.creations},
          {"cleared", f.clears},
          {"destroyed", f.destructions},
          {"max_live", f.max_live_regions},
          {"moved", f.moved_regions},
          {"circular_moves", f.circular_moves},
          {"never_ended", f.never_ended_regions}};
}

json threads_json(const row& r, const trace_facts& facts) {
  if (facts.of != subject::threads || !r.measured()) return nullptr;
  json strayed = nullptr;
  if (r.max_live && facts.max_live_bytes != 0)
    strayed = static_cast<double>(*r.max_live) / static_cast<double>(facts.max_live_bytes) - 1;
  return {{"wall_ns_per_event", harness::median(r.threads.wall_ns)},
          {"cold_wall_ns_per_event", harness::median(r.threads.cold_wall_ns)},
          {"waiting_ns_per_event", harness::median(r.threads.waiting_ns)},
          {"voluntary_switches", harness::median(r.threads.voluntary_switches)},
          {"involuntary_switches", harness::median(r.threads.involuntary_switches)},
          {"max_live_strayed", strayed}};
}

json scale_json(const row& r) {
  if (r.scale.empty()) return nullptr;
  json list = json::array();
  for (const scale_point& p : r.scale)
    list.push_back({{"copies", list.size() + 1},
                    {"events_per_second", harness::median(p.events_per_second)},
                    {"rounds", p.events_per_second},
                    {"cpu_ns_per_event", harness::median(p.cpu_ns)},
                    {"voluntary_switches", harness::median(p.voluntary_switches)},
                    {"involuntary_switches", harness::median(p.involuntary_switches)},
                    {"contention", or_null(p.contention)}});
  return list;
}

json schedule_json(const trace_facts& f) {
  if (f.of != subject::threads) return nullptr;
  return {
      {"threads", f.threads_replayed},  {"at_once", f.threads_at_once}, {"window", f.window},
      {"remote_frees", f.remote_frees}, {"copies", f.copies},           {"crossing_frees", f.crossing_frees},
      {"times_known", f.thread_times}};
}

std::string_view name_of(subject of) {
  switch (of) {
    case subject::blocks:
      return "blocks";
    case subject::regions:
      return "regions";
    case subject::threads:
      break;
  }
  return "threads";
}

json shifts_json(const row& r) {
  if (r.by_shift.empty()) return nullptr;
  json list = json::array();
  for (const row::at_shift& figures : r.by_shift)
    list.push_back({{"ns_per_event", harness::median(figures.warm_ns)},
                    {"cold_ns_per_event", harness::median(figures.cold_ns)},
                    {"page_faults", std::llround(harness::median(figures.page_faults))}});
  return list;
}

json journal_json(const report_input& in) {
  const trace_facts& f = in.facts;
  return {{"file", in.journal},
          {"program", in.program.empty() ? json(nullptr) : json(in.program)},
          {"replayed", name_of(f.of)},
          {"events", f.events},
          {"threads", f.threads},
          {"operations", f.operations()},
          {"allocations", f.allocations},
          {"callocs", f.callocs},
          {"deallocations", f.deallocations},
          {"reallocations", f.reallocations},
          {"total_bytes", f.total_bytes},
          {"max_live", f.max_live_bytes},
          {"max_live_objects", f.max_live_objects},
          {"never_freed", f.never_freed},
          {"inversions", f.inversions},
          {"unmatched_frees", f.unmatched_frees},
          {"failed_allocations", f.failed},
          {"impossible_allocations", f.impossible},
          {"region_events", f.region_events},
          {"regions", regions_json(f)},
          {"schedule", schedule_json(f)},
          {"read_cpu_seconds", in.read_cpu_seconds},
          {"sizes", sizes_json(in)},
          {"warnings", in.warnings}};
}

json method_json(const report_input& in) {
  json method;
  for (const method_line& line : method_of(in)) method[line.name] = line.text;
  return method;
}

json measures_json(const row& r, const trace_facts& facts) {
  if (!r.curve) return nullptr;
  const fragmentation_measures f = measures_of(r.curve->marks, facts.max_live_bytes);
  return {{"mean", or_null(f.mean)},
          {"at_max_live", or_null(f.at_max_live)},
          {"at_max_held", or_null(f.at_max_held)},
          {"max_to_max", or_null(f.max_to_max)}};
}

json curve_json(const row& r) {
  if (!r.curve) return nullptr;
  json arrays;
  for (const curve_point& p : r.curve->points) {
    arrays["event"].push_back(p.event);
    arrays["live"].push_back(p.live);
    arrays["granted"].push_back(p.granted == unknown_bytes ? json(nullptr) : json(p.granted));
    arrays["held_min"].push_back(p.held_min);
    arrays["held_max"].push_back(p.held_max);
  }
  arrays["walks_left_out"] = r.curve->walks_left_out;
  return arrays;
}

json part_json(const trace_facts& f) {
  if (f.part.heaps == 0) return nullptr;
  return {{"events", f.part.events},
          {"blocks", f.part.blocks},
          {"heaps", f.part.heaps},
          {"left_out", f.left_out}};
}

json change_json(const row& r, const report_input& in) {
  const std::optional<harness::summary> change = change_of(r, in);
  if (!change) return nullptr;
  return {{"median", change->median}, {"low", change->around.low}, {"high", change->around.high}};
}

json row_json(const row& r, const report_input& in) {
  const trace_facts& facts = in.facts;
  json spread = nullptr;
  json median = nullptr;
  json cold = nullptr;
  json rounds = nullptr;
  json cold_rounds = nullptr;
  json faults = nullptr;
  if (r.measured()) {
    const harness::summary warm = r.warm();
    median = warm.median;
    spread = {warm.around.low, warm.around.high};
    cold = harness::median(r.cold_ns);
    rounds = r.warm_ns;
    cold_rounds = r.cold_ns;
    faults = std::llround(harness::median(r.page_faults));
  }
  json fragmentation = nullptr;
  if (r.max_held && facts.max_live_bytes != 0)
    fragmentation = static_cast<double>(*r.max_held) / static_cast<double>(facts.max_live_bytes);
  return {{"strategy", r.label()},
          {"binding", name_of(r.of->bound)},
          {"status", name_of(r.status)},
          {"reason", r.reason.empty() ? json(nullptr) : json(r.reason)},
          {"ns_per_event", median},
          {"spread", spread},
          {"cold_ns_per_event", cold},
          {"rounds_ns", rounds},
          {"cold_rounds_ns", cold_rounds},
          {"by_shift", shifts_json(r)},
          {"threads", threads_json(r, facts)},
          {"scale", scale_json(r)},
          {"alloc_ns", latencies_json(r, operation::allocation)},
          {"free_ns", latencies_json(r, operation::deallocation)},
          {"realloc_ns", latencies_json(r, operation::reallocation)},
          {"calloc_ns", latencies_json(r, operation::calloc)},
          {"worst", worst_json(r)},
          {"operations", operations_json(r)},
          {"max_held", or_null(r.max_held)},
          {"max_live", facts.max_live_bytes},
          {"fragmentation", fragmentation},
          {"internal", or_null(r.internal)},
          {"header", or_null(r.header)},
          {"external", or_null(r.external)},
          {"held_after", or_null(r.held_after)},
          {"change_ns_per_block", change_json(r, in)},
          {"change_max_held", or_null(held_change_of(r, in))},
          {"fragmentation_measures", measures_json(r, facts)},
          {"curve", curve_json(r)},
          {"page_faults", faults},
          {"instructions_per_event", or_null(r.instructions)}};
}

}  // namespace

std::string to_json(const report_input& in) {
  json rows = json::array();
  for (const row& r : in.rows) rows.push_back(row_json(r, in));
  const json whole{{"journal", journal_json(in)},
                   {"machine", harness::to_json(in.machine)},
                   {"method", method_json(in)},
                   {"litter", in.options.litter},
                   {"shifts", in.options.shift ? json(shifts) : json(nullptr)},
                   {"latency", latency_json(in)},
                   {"part", part_json(in.facts)},
                   {"rows", rows}};
  return whole.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string strategies_to_json(std::span<const strategy> all) {
  json list = json::array();
  for (const strategy& s : all)
    list.push_back({{"strategy", s.name}, {"binding", name_of(s.bound)}, {"summary", s.summary}});
  return list.dump(2) + "\n";
}

}  // namespace mallard::replay
