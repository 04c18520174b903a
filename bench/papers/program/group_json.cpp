#include "program/group_json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/machine.hpp"

namespace mallard::bench {
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
