#include "whole/build_table.hpp"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "harness/machine.hpp"

namespace mallard::whole {

namespace {

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
