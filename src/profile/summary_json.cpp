#include <algorithm>
#include <nlohmann/json.hpp>

#include "profile/summary.hpp"

namespace mallard::profile {

namespace {

// The recording's share of the process's CPU time; null if one of them is not known.
nlohmann::ordered_json share_of(const journal::usage_sample& usage) {
  if (usage.cpu_ns == 0 || usage.recording_ns == 0) return {};
  return static_cast<double>(usage.recording_ns) / static_cast<double>(usage.cpu_ns);
}

// What all calls of the malloc family took of the process's CPU time less the recording's own; null if one of
// them is not known.
nlohmann::ordered_json memory_share_of(const summary& s) {
  if (s.memory_ns == 0 || s.usage.cpu_ns <= s.usage.recording_ns) return {};
  return std::min(1.0, s.memory_ns / static_cast<double>(s.usage.cpu_ns - s.usage.recording_ns));
}

nlohmann::ordered_json quotient(std::uint64_t dividend, std::uint64_t divisor) {
  if (divisor == 0) return {};
  return static_cast<double>(dividend) / static_cast<double>(divisor);
}

}  // namespace

std::string to_json(const summary& s) {
  using json = nlohmann::ordered_json;
  json modules = json::array();
  for (const journal::module_info& m : s.modules) {
    modules.push_back({{"path", m.path}, {"build_id", m.build_id}, {"begin", m.begin}, {"end", m.end}});
  }
  json children = json::array();
  for (const journal::child_info& c : s.children) {
    children.push_back({{"process", c.process}, {"journal", c.journal}});
  }
  const json all = {
      {"journal", s.journal},
      {"program", s.about.program},
      {"arguments", s.about.arguments},
      {"directory", s.about.directory},
      {"process", s.about.process},
      {"parent_process", s.about.parent_process},
      {"start_unix_ns", s.about.start_unix_ns},
      {"ticks_per_second", s.about.ticks_per_second},
      {"facts", s.about.facts},
      {"figures", s.about.figures},
      {"events", s.events},
      {"events_by_kind", s.events_by_kind},
      {"threads", s.threads},
      {"contexts", s.contexts},
      {"stack_depth_median", s.stack_depth_median == 0 ? json() : json(s.stack_depth_median)},
      {"duration", s.duration},
      {"objects", s.objects},
      {"mean_object_bytes", quotient(s.bytes, s.objects)},
      {"bytes", s.bytes},
      {"bytes_over_peak", quotient(s.bytes, s.peak_live_bytes)},
      {"memory_ns", s.memory_ns == 0 ? json() : json(s.memory_ns)},
      {"memory_share", memory_share_of(s)},
      {"peak_live_bytes", s.peak_live_bytes},
      {"peak_live_objects", s.peak_live_objects},
      {"unmatched_frees", s.unmatched_frees},
      {"file_bytes", s.file_bytes},
      {"cpu_ns", s.usage.cpu_ns},
      {"recording_ns", s.usage.recording_ns == 0 ? json() : json(s.usage.recording_ns)},
      {"recording_share", share_of(s.usage)},
      {"events_timed", s.events_timed},
      {"median_ns_by_kind", s.median_ns_by_kind},
      {"stalls", s.usage.stalls},
      {"stalled_ns", s.usage.stalled_ns},
      {"modules", modules},
      {"children", children},
      {"recovered", s.recovered},
      {"complete", s.complete},
      {"warnings", s.warnings},
  };
  return all.dump(2, ' ', false, json::error_handler_t::replace);
}

}  // namespace mallard::profile
