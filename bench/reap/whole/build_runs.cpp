#include "whole/build_runs.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "harness/launcher.hpp"
#include "harness/terminal.hpp"

namespace mallard::whole {

namespace {

using harness::turn_result;

bool is_meant(const build& c, const std::string& name) { return c.name() == name || c.kind == name; }

// Of all processes that have been waited for.
struct usage {
  double cpu_ms = 0;
  double page_faults = 0;
};

usage used_so_far() {
  rusage all{};
  ::getrusage(RUSAGE_CHILDREN, &all);
  const auto ms = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) / 1e3;
  };
  return {ms(all.ru_utime) + ms(all.ru_stime), static_cast<double>(all.ru_minflt + all.ru_majflt)};
}

class turns {
 public:
  turns(work asked, std::vector<row>& rows) : asked_(std::move(asked)), rows_(rows) {}

  turn_result take(std::size_t round, std::size_t index) {
    if (harness::interrupted()) return turn_result::stop_all;
    row& r = rows_[index];
    const std::size_t shift = round % shifts.size();
    told_.show(asked_.program + ", round " + std::to_string(round + 1) + ": " + r.of.name());
    const usage before = used_so_far();
    const harness::outcome end = harness::launch(plan(r.of, shifts[shift]));
    const usage after = used_so_far();
    if (harness::interrupted()) return turn_result::stop_all;
    // The dynamic linker goes on without a malloc that is not there, and says so.
    if (!end.clean() || !end.said.empty()) {
      r.reason = harness::describe(end);
      r.status = harness::row_status::failed;
      return index == 0 ? turn_result::stop_all : turn_result::leave_out;
    }
    const double ms = after.cpu_ms - before.cpu_ms;
    r.cpu_ms[shift].push_back(ms);
    r.page_faults.push_back(after.page_faults - before.page_faults);
    if (index == 0) first_ms_ = ms;
    r.ratios.push_back(ms / first_ms_);
    return turn_result::go_on;
  }

 private:
  [[nodiscard]] harness::launch_plan plan(const build& c, std::size_t shift) const {
    return {asked_.programs + "/" + asked_.program + "-" + c.kind,
            {"--shift", std::to_string(shift), asked_.input},
            c.beneath == nullptr ? std::vector<std::string>{} : harness::environment_for(*c.beneath)};
  }

  work asked_;
  std::vector<row>& rows_;
  harness::progress told_;
  double first_ms_ = 0;  // of this round
};

// Says of what has not failed itself why it has no more figures, or none.
void tell_unfinished(std::vector<row>& rows) {
  const row& first = rows.front();
  const bool without_first = first.status == harness::row_status::failed;
  for (row& r : rows) {
    if (r.status != harness::row_status::ok) continue;
    if (without_first) r.reason = first.of.name() + " could not be measured";
    if (r.measured()) continue;
    r.status = harness::row_status::skipped;
    if (!without_first) r.reason = "interrupted before its turn";
  }
}

}  // namespace

std::string build::name() const {
  if (beneath != nullptr) return kind + " " + std::string(beneath->name);
  return again ? kind + " again" : kind;
}

std::vector<build> builds() {
  std::vector<build> all;
  for (const char* kind : {"region", "sized_reap", "sized_reap_frees", "reap", "reap_frees"})
    all.push_back({kind, nullptr, false});
  for (const char* kind : {"region_emulator", "individual"})
    for (const harness::foreign_malloc& m : harness::foreign_mallocs()) all.push_back({kind, &m, false});
  all.push_back({"region", nullptr, true});
  return all;
}

std::vector<build> builds(const std::vector<std::string>& names) {
  std::vector<build> all = builds();
  std::string known;
  for (const build& c : all) known += (known.empty() ? "" : ", ") + c.name();
  for (const std::string& name : names)
    if (std::ranges::none_of(all, [&](const build& c) { return is_meant(c, name); }))
      throw std::invalid_argument("unknown strategy " + name + "; known: " + known);
  if (names.empty()) return all;
  const auto unwanted = std::ranges::remove_if(all.begin() + 1, all.end(), [&](const build& c) {
    return std::ranges::none_of(names, [&](const std::string& name) { return is_meant(c, name); });
  });
  all.erase(unwanted.begin(), unwanted.end());
  return all;
}

harness::summary row::cpu() const {
  std::vector<double> by_shift;
  for (const std::vector<double>& figures : cpu_ms)
    if (!figures.empty()) by_shift.push_back(harness::median(figures));
  const auto [low, high] = std::ranges::minmax(by_shift);
  return {harness::median(by_shift), {low, high}};
}

std::vector<row> measure(const work& asked, const std::vector<build>& all, std::size_t times) {
  std::vector<row> rows;
  for (const build& c : all) rows.push_back({c, {}, {}, {}, {}});
  turns taken(asked, rows);
  const std::size_t rounds = times * shifts.size();
  harness::alternate(
      rows.size(), {rounds, rounds}, [&](std::size_t round, std::size_t i) { return taken.take(round, i); },
      [](std::size_t) { return false; });
  tell_unfinished(rows);
  return rows;
}

}  // namespace mallard::whole
