#include "p0089/session.hpp"

#include <algorithm>
#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/bytes.hpp"
#include "harness/interrupt.hpp"
#include "harness/launcher.hpp"
#include "p0089/page.hpp"
#include "p0089/worker.hpp"

namespace mallard::p0089 {

using harness::row_status;
using harness::turn_result;

session::session(const setting& asked, session_options options)
    : asked_(asked), options_(std::move(options)), memory_(sizeof(page)) {
  const auto all = contestants(asked.which);
  const std::size_t figures = figures_of(asked).size();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto is_asked_for = [&](const std::string& name) { return is_meant(all[i], name); };
    if (i == 0 || options_.names.empty() || std::ranges::any_of(options_.names, is_asked_for))
      rows_.emplace_back(all[i], i, false);
  }
  rows_.emplace_back(all[0], 0, true);
  for (row& r : rows_) r.figures.resize(figures);
}

void session::run() {
  leave_out_what_cannot_be();
  harness::alternate(
      rows_.size(), {options_.rounds, 3 * options_.rounds},
      [this](std::size_t, std::size_t i) { return turn(rows_[i]); },
      [this](std::size_t i) { return is_unsettled(rows_[i]); });
  for (row& r : rows_) {
    if (!interrupted_ || r.status != row_status::ok || r.measured()) continue;
    r.status = row_status::skipped;
    r.reason = "interrupted before it was measured";
  }
}

bool session::any_failed() const {
  return std::ranges::any_of(rows_, [](const row& r) { return r.status == row_status::failed; });
}

bool session::stop_here() {
  interrupted_ = interrupted_ || harness::interrupted();
  return interrupted_;
}

void session::leave_out_what_cannot_be() {
  for (row& r : rows_) {
    const std::uint64_t needed = bytes_needed(asked_, *r.of);
    if (r.of->bound == binding::malloc && harness::malloc_is_a_sanitizers())
      r.reason = "this build runs under a sanitizer's malloc";
    else if (needed > options_.memory_limit)
      r.reason = "needs about " + harness::format_bytes(needed) + ", the limit is " +
                 harness::format_bytes(options_.memory_limit);
    else
      continue;
    r.status = row_status::skipped;
  }
}

turn_result session::turn(row& r) {
  if (stop_here()) return turn_result::stop_all;
  if (r.status != row_status::ok) return turn_result::leave_out;
  page& task = *::new (memory_.data()) page(asked_);
  task.memory_limit = options_.memory_limit;
  const harness::outcome end = harness::launch(
      {std::filesystem::read_symlink("/proc/self/exe"), worker_arguments(r.index, memory_.descriptor()),
       r.of->beneath == nullptr ? std::vector<std::string>{} : harness::environment_for(*r.of->beneath)});
  if (stop_here()) return turn_result::stop_all;
  if (harness::ending became = harness::ending_of(task, end); became.status != row_status::ok) {
    r.status = became.status;
    r.reason = std::move(became.reason);
    return turn_result::leave_out;
  }
  for (std::size_t i = 0; i < r.figures.size(); ++i) {
    r.figures[i].cold_ns.push_back(task.found[i].cold_ns);
    r.figures[i].warm_ns.push_back(task.found[i].warm_ns);
    r.figures[i].wall_ns.push_back(task.found[i].wall_ns);
  }
  r.page_faults.push_back(static_cast<double>(task.page_faults));
  r.max_held.push_back(static_cast<double>(task.max_held));
  if (task.failed_locks >= 0) r.failed_locks.push_back(task.failed_locks);
  return turn_result::go_on;
}

bool session::is_unsettled(const row& r) {
  const auto is_wide = [](const std::vector<double>& ns) {
    return harness::median(ns) > 0 && harness::relative_width(harness::summarise(ns)) > wide_spread;
  };
  return r.measured() && std::ranges::any_of(r.figures, [&](const series& s) {
           return is_wide(s.warm_ns) || is_wide(s.wall_ns);
         });
}

}  // namespace mallard::p0089
