#include "program/group_session.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "common/block_sizes.hpp"
#include "common/page.hpp"
#include "harness/bytes.hpp"
#include "harness/launcher.hpp"
#include "harness/litter.hpp"
#include "harness/machine.hpp"
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

// The process's malloc is littered, whatever is measured: resources take their chunks from it. Heaps of
// ours have pages of their own, which nothing litters. False if it could not be.
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

namespace {

using json = nlohmann::ordered_json;

std::string text_of(const json& of) { return of.dump(2, ' ', false, json::error_handler_t::replace) + "\n"; }

json column(const measured_allocator& c) {
  return {{"label", c.label.empty() ? json(nullptr) : json(c.label)},
          {"strategy", c.strategy},
          {"binding", name_of(c.bound)},
          {"destruction", name_of(c.ends)}};
}

std::string littering_line(std::uint32_t litter) {
  if (litter == 0) return "fresh in each process";
  return "littered with " + std::to_string(litter) +
         " times the live blocks, in the process's malloc and outside the limit on memory; held bytes and "
         "page "
         "faults are beside it. Heaps of ours take pages of their own, which nothing litters";
}

std::string turns_line(std::size_t rounds) {
  return "allocators alternate, each turn in a fresh process, at least " + std::to_string(rounds) +
         (rounds == 1 ? " round" : " rounds") +
         ", up to three times as many for one whose spread (of several figures the median of theirs) is "
         "wider "
         "than 10 % of its median, while neither its turns nor those of the first have lasted " +
         std::to_string(most_time_for_more.count()) + " s in all";
}

json method_of(const group_session& done) {
  json method{{"turns", turns_line(done.options().rounds)},
              {"figures", "medians of the rounds; spread: the 10th and the 90th of 100 parts"},
              {"rounds", done.options().rounds},
              {"memory_limit", done.options().memory_limit},
              {"litter", done.asked().litter},
              {"littering", littering_line(done.asked().litter)}};
  method.update(method_of(done.asked()));
  return method;
}

json rounded(const std::vector<double>& of) {
  return of.empty() ? json(nullptr) : json(std::llround(harness::median(of)));
}

json counts_json(const row& r, const std::vector<std::string>& names) {
  if (names.empty()) return nullptr;
  json counts = json::object();
  for (std::size_t i = 0; i < names.size(); ++i)
    counts[names[i]] = r.counted[i] == not_counted ? json(nullptr) : json(r.counted[i]);
  return counts;
}

json row_json(const row& r, const series& s, const json& figure, const std::vector<std::string>& counts) {
  json result = column(*r.of);
  result.update(figure);
  result["repeated"] = r.repeated;
  result["status"] = harness::name_of(r.status);
  result["reason"] = r.reason.empty() ? json(nullptr) : json(r.reason);
  for (const char* name :
       {"ns_per_event", "spread", "cold_ns_per_event", "rounds_ns", "cold_rounds_ns", "wall_ns_per_event",
        "wall_spread", "wall_rounds_ns", "failed_locks", "max_held", "page_faults", "counts"})
    result[name] = nullptr;
  if (r.status != harness::row_status::ok || !r.measured()) return result;
  const harness::summary warm = harness::summarise(s.warm_ns);
  result["ns_per_event"] = warm.median;
  result["spread"] = {warm.around.low, warm.around.high};
  result["rounds_ns"] = s.warm_ns;
  if (!s.cold_ns.empty()) {
    result["cold_ns_per_event"] = harness::median(s.cold_ns);
    result["cold_rounds_ns"] = s.cold_ns;
  }
  if (!s.wall_ns.empty()) {
    const harness::summary wall = harness::summarise(s.wall_ns);
    result["wall_ns_per_event"] = wall.median;
    result["wall_spread"] = {wall.around.low, wall.around.high};
    result["wall_rounds_ns"] = s.wall_ns;
  }
  if (!r.failed_locks.empty()) result["failed_locks"] = harness::median(r.failed_locks);
  result["counts"] = counts_json(r, counts);
  result["max_held"] = rounded(r.max_held);
  result["page_faults"] = rounded(r.page_faults);
  return result;
}

}  // namespace

std::string to_json(const group_session& done) {
  const std::vector<json> figures = figures_of(done.asked());
  const std::vector<std::string> counts = counts_of(done.asked());
  json rows = json::array();
  for (const row& r : done.rows())
    for (std::size_t i = 0; i < figures.size(); ++i)
      rows.push_back(row_json(r, r.figures[i], figures[i], counts));
  const json whole{{"benchmark", name_of(done.asked().which)},
                   {"group", group_of(done.asked())},
                   {"machine", harness::to_json(harness::this_machine())},
                   {"method", method_of(done)},
                   {"rows", rows}};
  return text_of(whole);
}

std::string machine_json() { return text_of(harness::to_json(harness::this_machine())); }

std::string allocators_json(benchmark which) {
  json list = json::array();
  for (const measured_allocator& c : allocators_of(which)) list.push_back(column(c));
  return text_of(list);
}

}  // namespace mallard::bench
