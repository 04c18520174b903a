#include "replay/session/replay_session.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "harness/bytes.hpp"
#include "harness/launcher.hpp"
#include "replay/run/callgrind.hpp"
#include "replay/run/job.hpp"
#include "replay/session/replay_worker.hpp"

namespace mallard::replay {
namespace {

// Where in the trace a job stopped, for its row's reason.
std::string place_of(const trace& t, const job& task) {
  if (task.stopped_at == 0) return {};
  const trace_facts& f = t.facts();
  const std::uint64_t ops = f.of == subject::threads ? f.ops - f.threads_replayed : f.ops;
  return " at operation " + std::to_string(task.stopped_at) + " of " + std::to_string(ops);
}

// Why this strategy cannot be tried at all; empty if it can.
std::string obstacle_to(const strategy& s, const trace_facts& facts) {
  if (s.bound == binding::malloc && harness::malloc_is_a_sanitizers())
    return "this build runs under a sanitizer's malloc";
  if (facts.max_align > s.most_align)
    return "serves alignments up to " + std::to_string(s.most_align) + ", the journal asks for " +
           std::to_string(facts.max_align);
  return {};
}

}  // namespace

replay_session::replay_session(const trace& t, session_options options)
    : harness::session<row>(sizeof(job)), trace_(t), options_(std::move(options)) {
  choose_rows();
}

bool replay_session::is_reference(const strategy& s) const {
  return options_.baseline == nullptr ? is_over_glibc(s)
                                      : s.bound == binding::malloc && s.beneath == options_.baseline;
}

void replay_session::choose_rows() {
  const auto all = strategies(trace_.facts());
  const auto is_asked_for = [this](const strategy& s) {
    if (s.name == "none" || is_reference(s)) return true;
    if (options_.only_binding && s.bound != *options_.only_binding) return false;
    if (options_.names.empty()) return options_.baseline == nullptr || s.bound != binding::malloc;
    return std::ranges::find(options_.names, s.name) != options_.names.end();
  };
  for (std::size_t i = 0; i < all.size(); ++i)
    if (is_asked_for(all[i])) rows_.emplace_back(all[i], i, false);
  const auto first_malloc = std::ranges::find_if(rows_, [this](const row& r) {
    return options_.baseline == nullptr ? r.of->bound == binding::malloc : is_reference(*r.of);
  });
  if (first_malloc != rows_.end()) rows_.emplace_back(*first_malloc->of, first_malloc->index, true);
}

void replay_session::run() {
  if (!options_.held_only) check_rows();
  if (!options_.check_only) {
    if (!options_.held_only) measure_rows();
    weigh_rows();
    if (options_.curve) draw_rows();
    if (options_.latency_passes != 0) time_operations();
    if (options_.count_instructions) count_rows();
    for (std::uint64_t copies = 1; copies <= options_.scale; ++copies) scale_rows(copies);
  }
  skip_unmeasured();
  progress_.clear();
}

bool replay_session::work(row& r, job& task) {
  task.touched = options_.touched;
  task.memory_limit = options_.memory_limit;
  task.warm_ns = options_.warm_ns;
  task.litter = options_.litter;
  if (options_.baseline != nullptr && !harness::malloc_is_a_sanitizers())
    task.baseline = static_cast<std::uint64_t>(options_.baseline - harness::foreign_mallocs().data());
  harness::launch_plan plan =
      harness::worker_plan(worker_arguments(r.index, trace_.descriptor(), page_.descriptor()),
                           r.of->beneath == nullptr ? options_.baseline : r.of->beneath);
  plan.small_pages = needs_small_pages(task.kind);
  if (task.kind == job_kind::count_instructions) plan = under_callgrind(std::move(plan));
  const std::optional<harness::outcome> end = harness::session<row>::work(r, task, plan);
  if (!end && r.status != row_status::ok) r.reason += place_of(trace_, task);
  if (end && task.kind == job_kind::count_instructions) r.instructions = instructions_in(end->said);
  return end.has_value();
}

void replay_session::check_rows() {
  for (row& r : rows_) {
    if (stop_here()) return;
    if (const std::string obstacle = obstacle_to(*r.of, trace_.facts()); !obstacle.empty()) {
      r.skip(obstacle);
      continue;
    }
    // Its places are shared memory, which the kernel's limit on a worker does not count.
    if (&r == &rows_.front() && trace_.facts().places_bytes > options_.memory_limit) {
      r.status = row_status::out_of_memory;
      r.reason = "its places take " + harness::format_bytes(trace_.facts().places_bytes);
      continue;
    }
    progress_.show("checking " + r.label());
    for (std::size_t k = 0; k < turns() && r.status == row_status::ok && !interrupted_; ++k) {
      job task(job_kind::check);
      task.shifts = options_.shift;
      task.shift = shifts[k];
      work(r, task);
    }
  }
}

void replay_session::measure_rows() {
  const std::size_t most = options_.most_rounds == 0 ? 3 * options_.rounds : options_.most_rounds;
  const harness::round_limits limits{options_.rounds, most};
  harness::alternate(
      rows_.size(), limits, [this](std::size_t round, std::size_t i) { return measure(round, rows_[i]); },
      [this](std::size_t i) { return is_unsettled(rows_[i]); });
}

harness::turn_result replay_session::measure(std::size_t round, row& r) {
  if (stop_here()) return harness::turn_result::stop_all;
  const bool is_baseline = &r == &rows_.front();
  if (r.status != row_status::ok) return is_baseline ? without_baseline() : harness::turn_result::leave_out;
  progress_.show("round " + std::to_string(round + 1) + " of at least " + std::to_string(options_.rounds) +
                 ": " + r.label());
  const auto operations = static_cast<double>(trace_.facts().operations());
  row::at_shift turn;
  for (std::size_t k = 0; k < turns(); ++k) {
    job task(job_kind::measure);
    task.shifts = options_.shift;
    task.shift = shifts[k];
    if (!work(r, task)) {
      if (interrupted_) return harness::turn_result::stop_all;
      return is_baseline ? without_baseline() : harness::turn_result::leave_out;
    }
    if (is_baseline) {
      warm_baseline_.push_back(task.warm_median_ns);
      cold_baseline_.push_back(task.cold_ns);
    }
    const std::size_t same_turn = round * turns() + k;
    turn.warm_ns.push_back((task.warm_median_ns - (is_baseline ? 0 : warm_baseline_[same_turn])) /
                           operations);
    turn.cold_ns.push_back((task.cold_ns - (is_baseline ? 0 : cold_baseline_[same_turn])) / operations);
    turn.page_faults.push_back(static_cast<double>(task.cold_page_faults));
    r.warm_passes += task.warm_passes;
    if (trace_.facts().of == subject::threads) add_threads(r, task);
  }
  r.add_round(turn);
  return harness::turn_result::go_on;
}

void replay_session::add_threads(row& r, const job& task) const {
  const auto operations = static_cast<double>(trace_.facts().operations());
  r.threads.wall_ns.push_back(task.warm_wall_ns / operations);
  r.threads.cold_wall_ns.push_back(task.cold_wall_ns / operations);
  r.threads.waiting_ns.push_back(task.waiting_ns / operations);
  r.threads.voluntary_switches.push_back(task.voluntary_switches);
  r.threads.involuntary_switches.push_back(task.involuntary_switches);
}

// A raw time is no row of this table: what has no baseline to subtract is not measured.
harness::turn_result replay_session::without_baseline() {
  for (row& r : rows_) {
    if (r.status != row_status::ok || r.measured()) continue;
    r.skip("the baseline could not be measured: " + rows_.front().reason);
  }
  return harness::turn_result::stop_all;
}

bool replay_session::is_unsettled(const row& r) const {
  const auto is_wide = [](const row& one) {
    return one.measured() && harness::relative_width(one.warm()) > wide_spread;
  };
  if (options_.baseline != nullptr && is_reference(*r.of) && !r.repeated)
    return r.measured() && std::ranges::any_of(rows_, is_wide);
  return is_wide(r);
}

void replay_session::weigh_rows() {
  for (row& r : rows_) {
    if (stop_here()) return;
    if (r.status != row_status::ok) continue;
    progress_.show("footprint of " + r.label());
    job task(job_kind::footprint);
    if (!work(r, task)) continue;
    r.max_held = task.max_held;
    r.held_after = task.held_after;
    if (trace_.facts().of == subject::threads) r.max_live = task.max_live;
    if (!task.has_usage) continue;
    r.internal = task.granted - trace_.facts().max_live_bytes;
    r.header = task.carved - task.granted;
    r.external = task.held - task.carved;
  }
}

void replay_session::scale_rows(std::uint64_t copies) {
  for (row& r : rows_)
    if (r.status == row_status::ok && r.scale.size() + 1 == copies && serves(r, copies))
      r.scale.emplace_back();
  const harness::round_limits limits{options_.rounds, options_.rounds};
  harness::alternate(
      rows_.size(), limits, [this, copies](std::size_t, std::size_t i) { return scale(rows_[i], copies); },
      [](std::size_t) { return false; });
  for (row& r : rows_) {
    if (r.scale.size() == copies && r.scale.back().cpu_ns.empty()) r.scale.pop_back();
    if (r.scale.size() == copies && r.of->count_contention != nullptr && !stop_here()) count_contention(r);
  }
}

// Whether this many copies pass the check. One copy has.
bool replay_session::serves(row& r, std::uint64_t copies) {
  if (stop_here()) return false;
  if (copies == 1) return true;
  if (&r == &rows_.front() && copies * trace_.facts().places_bytes > options_.memory_limit) {
    r.reason = "more copies were not run: their places take " +
               harness::format_bytes(copies * trace_.facts().places_bytes);
    return false;
  }
  progress_.show("checking " + std::to_string(copies) + " copies: " + r.label());
  job task(job_kind::check);
  task.copies = copies;
  return work_beside(r, task, "more copies were not run");
}

harness::turn_result replay_session::scale(row& r, std::uint64_t copies) {
  if (stop_here()) return harness::turn_result::stop_all;
  if (r.scale.size() != copies) return harness::turn_result::leave_out;
  progress_.show(std::to_string(copies) + " of " + std::to_string(options_.scale) + " copies: " + r.label());
  job task(job_kind::measure);
  task.copies = copies;
  if (!work_beside(r, task, "more copies were not run"))
    return interrupted_ ? harness::turn_result::stop_all : harness::turn_result::leave_out;
  const double operations = static_cast<double>(copies * trace_.facts().operations());
  scale_point& point = r.scale.back();
  point.events_per_second.push_back(operations / task.warm_wall_ns * 1e9);
  point.cpu_ns.push_back(task.warm_median_ns / operations);
  point.voluntary_switches.push_back(task.voluntary_switches);
  point.involuntary_switches.push_back(task.involuntary_switches);
  return harness::turn_result::go_on;
}

void replay_session::count_contention(row& r) {
  job task(job_kind::count_contention);
  task.copies = r.scale.size();
  if (work_beside(r, task, "contention was not counted") && task.lock_attempts != 0)
    r.scale.back().contention =
        static_cast<double>(task.lock_failures) / static_cast<double>(task.lock_attempts);
}

bool replay_session::work_beside(row& r, job& task, const char* not_done) {
  if (work(r, task)) return true;
  if (r.status == row_status::ok) return false;
  r.status = row_status::ok;
  r.reason = not_done + (": " + r.reason);
  return false;
}

void replay_session::draw_rows() {
  for (row& r : rows_) {
    if (stop_here()) return;
    const bool is_baseline = &r == &rows_.front();  // what it holds is all of its places from the start
    if (is_baseline || r.status != row_status::ok) continue;
    progress_.show("curve of " + r.label());
    job task(job_kind::curve);
    if (work_beside(r, task, "its curve was not drawn")) r.curve.emplace(task.curve);
  }
}

void replay_session::time_operations() {
  if (stop_here()) return;
  clock_ = harness::measured_clock();
  const harness::shared_file log(operation_log::bytes_for(trace_.recorded_ops().size()));
  for (row& r : rows_) {
    if (stop_here()) return;
    if (r.status != row_status::ok) continue;
    progress_.show("timing single operations of " + r.label());
    time_operations(r, log);
  }
}

void replay_session::time_operations(row& r, const harness::shared_file& log) {
  latency_task asked;
  asked.passes = options_.latency_passes;
  asked.turns = std::min(asked.passes, latency_turns);
  asked.log = log.descriptor();
  asked.clock = *clock_;
  bool pinned = true;
  for (; asked.turn < asked.turns; ++asked.turn) {
    job task(job_kind::latency);
    task.latency = asked;
    if (!work_beside(r, task, "single operations were not timed")) return;
    pinned = pinned && task.latency.pinned;
    if (!asked.is_last()) continue;
    const latencies& found = task.latency.found;
    const operation_log times(log.data(), trace_.recorded_ops(), *clock_);
    r.single = {found, locate(trace_, std::span(found.worst).first(found.worst_count)),
                thin_out(trace_, times.lowest(), *clock_), pinned};
  }
}

void replay_session::count_rows() {
  for (row& r : rows_) {
    if (stop_here()) return;
    if (r.status != row_status::ok) continue;
    progress_.show("counting instructions of " + r.label());
    job task(job_kind::count_instructions);
    work_beside(r, task, "instructions were not counted");
  }
  const std::optional<double> baseline = rows_.front().instructions;
  const auto operations = static_cast<double>(trace_.facts().operations());
  for (row& r : rows_) {
    if (&r == &rows_.front() || !r.instructions) continue;
    if (baseline)
      r.instructions = (*r.instructions - *baseline) / operations;
    else
      r.instructions.reset();
  }
  if (baseline) rows_.front().instructions = *baseline / operations;
}

}  // namespace mallard::replay
