#include "profile/summary.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <system_error>

#include "journal/events/event_batch.hpp"
#include "journal/open.hpp"
#include "profile/live_objects.hpp"

namespace mallard::profile {
namespace {

// What all calls of one kind took, from the few that were timed. One that took more than an eighth of what
// was timed (the first of the program, or one that lost the processor) counts only once, where there are
// others to go by.
class timed_calls {
 public:
  // `ticks`: 0 where the call was not timed.
  void add(std::uint64_t ticks) {
    ++calls_;
    if (ticks == 0) return;
    ++timed_;
    sum_ += static_cast<double>(ticks);
    largest_ = std::max(largest_, static_cast<double>(ticks));
  }

  // In ticks.
  [[nodiscard]] double estimate() const {
    if (timed_ == 0) return 0;
    const bool alone = timed_ >= least_timed && largest_ > sum_ / 8;
    const double others = static_cast<double>(timed_ - (alone ? 1 : 0));
    const double rest = sum_ - (alone ? largest_ : 0);
    return rest / others * static_cast<double>(calls_ - (alone ? 1 : 0)) + (alone ? largest_ : 0);
  }

 private:
  static constexpr std::uint64_t least_timed = 32;

  std::uint64_t calls_ = 0;
  std::uint64_t timed_ = 0;
  double sum_ = 0;
  double largest_ = 0;
};

// Counts the events of a journal in the order in which they come.
class counter {
 public:
  explicit counter(summary& to) : to_(&to) {}

  void count(const journal::event_batch& batch, const std::vector<journal::context_node>& contexts,
             journal::tick_scale clock) {
    measure_depths(contexts);
    to_->events += batch.count();
    for (std::size_t row = 0; row < batch.count(); ++row) {
      const journal::event_kind kind = batch.kind[row];
      ++by_kind_[static_cast<std::size_t>(kind)];
      now_ns_ = clock.ns(batch.time[row]);
      if (batch.duration[row] != 0) durations_[static_cast<std::size_t>(kind)].add(batch.duration[row]);
      if (is_allocation(kind) || is_reallocation(kind))
        allocations_.add(batch.duration[row]);
      else if (is_free(kind))
        frees_.add(batch.duration[row]);
      if (batch.context[row] != 0 && (is_allocation(kind) || is_reallocation(kind)))
        stack_depths_.add(depths_[batch.context[row]]);
      if (is_allocation(kind)) {
        begin(batch.address[row], batch.size[row]);
      } else if (is_free(kind)) {
        end(batch.address[row]);
      } else if (is_reallocation(kind)) {
        reallocate(batch, row);
      }
    }
    if (batch.count() > 0) {
      last_time_ = std::max(last_time_, *std::max_element(batch.time.begin(), batch.time.end()));
    }
  }

  void finish() {
    for (std::size_t kind = 0; kind < by_kind_.size(); ++kind) {
      if (by_kind_[kind] == 0) continue;
      const std::string name = journal::label_of(static_cast<journal::event_kind>(kind));
      to_->events_by_kind[name] = by_kind_[kind];
      const median_counts& durations = durations_[kind];
      if (durations.total() == 0) continue;
      to_->events_timed += durations.total();
      to_->median_ns_by_kind[name] =
          static_cast<double>(durations.median()) * 1e9 / to_->about.ticks_per_second;
    }
    to_->memory_ns = (allocations_.estimate() + frees_.estimate()) * 1e9 / to_->about.ticks_per_second;
    to_->stack_depth_median = stack_depths_.median();
    to_->duration = static_cast<double>(last_time_) / to_->about.ticks_per_second;
  }

 private:
  // Of the contexts that are new; a scope is no frame.
  void measure_depths(const std::vector<journal::context_node>& contexts) {
    for (std::size_t i = depths_.size(); i < contexts.size(); ++i)
      depths_.push_back(i == 0 ? 0 : depths_[contexts[i].parent] + (contexts[i].name == 0 ? 1u : 0u));
  }

  void begin(std::uint64_t address, std::uint64_t size) {
    if (address == 0) return;
    ++to_->objects;
    to_->bytes += size;
    live_bytes_ += size;
    if (const auto ended = blocks_.add(address, size, now_ns_)) live_bytes_ -= *ended;
    to_->peak_live_bytes = std::max(to_->peak_live_bytes, live_bytes_);
    to_->peak_live_objects = std::max<std::uint64_t>(to_->peak_live_objects, blocks_.count());
  }

  void end(std::uint64_t address) {
    std::uint64_t size = 0;
    switch (blocks_.remove(address, size, now_ns_)) {
      case live_blocks::end::of_block:
        live_bytes_ -= size;
        break;
      case live_blocks::end::unmatched:
        ++to_->unmatched_frees;
        break;
      case live_blocks::end::late:
        break;
    }
  }

  // The old block lives on where the call failed; a reallocation to 0 bytes that returns null has freed it.
  void reallocate(const journal::event_batch& batch, std::size_t row) {
    const bool succeeded = batch.address[row] != 0;
    const bool frees = succeeded || batch.size[row] == 0;
    if (frees && batch.old_address[row] != 0) end(batch.old_address[row]);
    begin(batch.address[row], batch.size[row]);
  }

  summary* to_;
  live_blocks blocks_;
  std::array<std::uint64_t, 256> by_kind_{};
  std::array<median_counts, 256> durations_;  // in ticks
  std::vector<std::uint32_t> depths_;         // of each context, in frames
  timed_calls allocations_;
  timed_calls frees_;
  median_counts stack_depths_;
  std::uint64_t live_bytes_ = 0;
  std::uint64_t now_ns_ = 0;
  std::uint64_t last_time_ = 0;
};

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

summary summarize(journal::event_source& from) {
  summary s;
  from.watch(journal::sections::snapshots, [&s](const journal::table& rows) { s.snapshots += rows.rows; });
  counter counts(s);
  journal::event_batch batch;
  while (from.next(batch))
    counts.count(batch, from.tables().contexts, journal::tick_scale(1e9 / from.about().ticks_per_second));
  s.about = from.about();
  counts.finish();

  const journal::process_tables& known = from.tables();
  s.threads = known.threads.size();
  s.contexts = known.contexts.size() - 1;
  s.modules = known.modules;
  s.children = known.children;
  if (!known.usage.empty()) s.usage = known.usage.back();
  s.recovered = from.recovered();
  s.complete = from.complete();
  s.warnings = from.warnings();
  return s;
}

summary summarize(const std::filesystem::path& path) {
  const auto source = journal::open(path);
  summary s = summarize(*source);
  s.journal = path.string();
  std::error_code unknown;
  const auto bytes = std::filesystem::file_size(path, unknown);
  if (!unknown) s.file_bytes = bytes;
  return s;
}

std::string to_json(const summary& s) {
  using json = nlohmann::ordered_json;
  json modules = json::array();
  for (const journal::module_info& m : s.modules) {
    modules.push_back({{"path", m.path}, {"build_id", m.build_id}, {"begin", m.begin}, {"end", m.end}});
  }
  json children = json::array();
  json unrecorded = json::array();
  for (const journal::child_info& c : s.children) {
    if (c.reason.empty())
      children.push_back({{"process", c.process}, {"journal", c.journal}});
    else
      unrecorded.push_back({{"program", c.program}, {"reason", c.reason}, {"processes", c.processes}});
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
      {"snapshots", s.snapshots},
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
      {"unrecorded", unrecorded},
      {"recovered", s.recovered},
      {"complete", s.complete},
      {"warnings", s.warnings},
  };
  return all.dump(2, ' ', false, json::error_handler_t::replace);
}

}  // namespace mallard::profile
