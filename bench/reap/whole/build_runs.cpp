#include "whole/build_runs.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "harness/launcher.hpp"
#include "harness/machine.hpp"
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

using nlohmann::ordered_json;

constexpr const char* how_measured =
    "CPU time of whole processes, in turn; of each shift (0, 64, 1024, 2048, 4032 bytes: own heaps' chunks "
    "in "
    "their pages, each a page larger for it at 0, too; over malloc a block of that size that comes first) "
    "the "
    "median of its rounds, of the five the median; ratios round by round with region";

template <class... Figures>
std::string formatted(const char* form, Figures... figures) {
  std::array<char, 256> line{};
  const int length = std::snprintf(line.data(), line.size(), form, figures...);
  return {line.data(), static_cast<std::size_t>(length)};
}

std::string line_of(const row& r) {
  const std::string name = r.of.name();
  if (!r.measured()) return formatted("%-28s  %s\n", name.c_str(), r.reason.c_str());
  const harness::summary cpu = r.cpu();
  const harness::summary ratio = harness::summarise(r.ratios);
  return formatted("%-28s %9.0f %8.0f %8.0f %10.3f %7.3f %7.3f %12.0f%s%s\n", name.c_str(), cpu.median,
                   cpu.around.low, cpu.around.high, ratio.median, ratio.around.low, ratio.around.high,
                   harness::median(r.page_faults), r.reason.empty() ? "" : "  ", r.reason.c_str());
}

ordered_json to_json(const row& r) {
  ordered_json made{{"strategy", r.of.name()},
                    {"status", harness::name_of(r.status)},
                    {"reason", r.reason.empty() ? ordered_json() : ordered_json(r.reason)}};
  if (!r.measured()) return made;
  const harness::summary cpu = r.cpu();
  const harness::summary ratio = harness::summarise(r.ratios);
  made["cpu_ms"] = cpu.median;
  made["spread"] = {cpu.around.low, cpu.around.high};
  made["of_region"] = ratio.median;
  made["of_region_spread"] = {ratio.around.low, ratio.around.high};
  made["page_faults"] = harness::median(r.page_faults);
  made["rounds_ms"] = r.cpu_ms;
  return made;
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

std::string as_text(const std::string& program, const std::vector<row>& rows) {
  std::string all = formatted("%-28s %9s %8s %8s %10s %7s %7s %12s\n", program.c_str(), "CPU ms", "lowest",
                              "highest", "of region", "low", "high", "page faults");
  for (const row& r : rows) all += line_of(r);
  return all;
}

ordered_json as_json(const std::string& program, const std::vector<row>& rows) {
  ordered_json list = ordered_json::array();
  for (const row& r : rows) list.push_back(to_json(r));
  return {{"benchmark", program},
          {"machine", harness::to_json(harness::this_machine())},
          {"method", how_measured},
          {"rows", std::move(list)}};
}

std::string method() {
  std::string all = "method: " + std::string(how_measured) + "\n";
  const ordered_json machine = harness::to_json(harness::this_machine());
  for (const auto& [name, fact] : machine.items())
    all += name + ": " + (fact.is_string() ? fact.get<std::string>() : fact.dump()) + "\n";
  return all;
}

}  // namespace mallard::whole
