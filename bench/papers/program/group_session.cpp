#include "program/group_session.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "common/block_sizes.hpp"
#include "common/page.hpp"
#include "harness/bytes.hpp"
#include "harness/launcher.hpp"
#include "harness/litter.hpp"
#include "harness/mapping.hpp"
#include "harness/work.hpp"

namespace mallard::bench {

using harness::row_status;
using harness::turn_result;

namespace {

// Of one time of each figure, the median; 0 where that is not measured.
double usual_width(const row& r, std::vector<double> series::* ns) {
  std::vector<double> widths;
  for (const series& s : r.figures)
    if (!(s.*ns).empty()) widths.push_back(harness::relative_width(harness::summarise(s.*ns)));
  return widths.empty() ? 0 : harness::median(widths);
}

void keep(std::vector<double>& rounds, std::optional<double> ns) {
  if (ns) rounds.push_back(*ns);
}

// The process's malloc is littered, whoever is measured: resources take their chunks from it. Heaps of ours
// have pages of their own, which nothing litters. False if it could not be.
bool litter_malloc(std::optional<harness::litter>& into, page& task) {
  if (task.asked.litter == 0) return true;
  block_sizes blocks;
  count_blocks(task.asked, blocks);
  into.emplace(harness::calls_of_malloc(), blocks.plan(task.asked.litter));
  if (into->shortage() != nullptr) task.refuse(harness::work_state::out_of_memory, into->shortage());
  return into->shortage() == nullptr;
}

}  // namespace

bool is_wide(const row& r) {
  return std::max(usual_width(r, &series::warm_ns), usual_width(r, &series::wall_ns)) > wide_spread;
}

bool wants_more(const row& r, const row& first) {
  return std::max(r.took, first.took) < most_time_for_more && is_wide(r);
}

group_session::group_session(const setting& asked, session_options options)
    : harness::session<row>(sizeof(page)), asked_(asked), options_(std::move(options)) {
  const auto all = allocators_of(asked.which);
  const std::size_t figures = figures_of(asked).size();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto is_asked_for = [&](const std::string& name) { return is_meant(all[i], name); };
    const bool is_needed = i == 0 || all[i].strategy == floor_strategy;
    if (is_needed || options_.names.empty() || std::ranges::any_of(options_.names, is_asked_for))
      rows_.emplace_back(all[i], i, false);
  }
  rows_.emplace_back(all[0], 0, true);
  for (row& r : rows_) r.figures.resize(figures);
}

void group_session::run() {
  leave_out_what_cannot_be();
  harness::alternate(
      rows_.size(), {options_.rounds, 3 * options_.rounds},
      [this](std::size_t, std::size_t i) { return turn(rows_[i]); },
      [this](std::size_t i) { return wants_more(rows_[i], rows_.front()); });
  skip_unmeasured();
}

void group_session::leave_out_what_cannot_be() {
  for (row& r : rows_) {
    const std::uint64_t needed = bytes_needed(asked_, *r.of);
    if (r.of->bound == binding::malloc && harness::malloc_is_a_sanitizers())
      r.skip("this build runs under a sanitizer's malloc");
    else if (needed > options_.memory_limit)
      r.skip("needs about " + harness::format_bytes(needed) + ", the limit is " +
             harness::format_bytes(options_.memory_limit));
  }
}

turn_result group_session::turn(row& r) {
  if (stop_here()) return turn_result::stop_all;
  if (r.status != row_status::ok) return turn_result::leave_out;
  page task(asked_);
  task.memory_limit = options_.memory_limit;
  const auto start = std::chrono::steady_clock::now();
  const bool done =
      work(r, task, harness::worker_plan(worker_arguments(r.index, page_.descriptor()), r.of->beneath))
          .has_value();
  r.took += std::chrono::steady_clock::now() - start;
  if (!done) return was_interrupted() ? turn_result::stop_all : turn_result::leave_out;
  for (std::size_t i = 0; i < r.figures.size(); ++i) {
    keep(r.figures[i].cold_ns, task.found[i].cold_ns);
    keep(r.figures[i].warm_ns, task.found[i].warm_ns);
    keep(r.figures[i].wall_ns, task.found[i].wall_ns);
  }
  r.counted = task.counted;
  r.page_faults.push_back(static_cast<double>(task.page_faults));
  r.max_held.push_back(static_cast<double>(task.max_held));
  if (task.failed_locks >= 0) r.failed_locks.push_back(task.failed_locks);
  return turn_result::go_on;
}

std::vector<std::string> worker_arguments(std::size_t allocator, int page_descriptor) {
  return {worker_flag, std::to_string(allocator), std::to_string(page_descriptor)};
}

void be_worker(int argc, char** argv) {
  if (argc != 4) ::_exit(2);
  harness::end_with_parent();
  const harness::shared_file memory(std::atoi(argv[3]), harness::access::read_write);
  page& task = *static_cast<page*>(memory.data());
  const measured_allocator& chosen =
      allocators_of(task.asked.which)[static_cast<std::size_t>(std::atoi(argv[2]))];
  std::optional<harness::litter> litter;
  harness::do_work(
      task, chosen.bound == binding::malloc ? chosen.beneath : nullptr, task.memory_limit,
      [&] { return litter_malloc(litter, task); }, [&] { chosen.run(task); });
  ::_exit(0);
}

}  // namespace mallard::bench
