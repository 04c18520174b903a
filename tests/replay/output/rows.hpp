// rows: finished rows with figures of the test's choice.
#pragma once

#include <algorithm>
#include <string_view>

#include "replay/output/report.hpp"

namespace mallard::replay::testing {

// A measured row of the strategy with this name (its first binding) around `ns`, holding `held` bytes.
inline row measured(std::string_view name, double ns, std::uint64_t held, bool repeated = false) {
  const auto all = strategies();
  const auto found = std::ranges::find(all, name, &strategy::name);
  row r(*found, static_cast<std::size_t>(found - all.begin()), repeated);
  r.warm_ns = {ns * 0.98, ns * 0.99, ns, ns * 1.01, ns * 1.02};
  r.cold_ns = {ns * 2, ns * 2, ns * 2, ns * 2, ns * 2};
  r.page_faults = {10, 10, 10, 10, 11};
  r.max_held = held;
  r.held_after = held / 2;
  return r;
}

inline row failed(std::string_view name, row_status status, std::string reason) {
  row r = measured(name, 1, 1);
  r.warm_ns.clear();
  r.cold_ns.clear();
  r.page_faults.clear();
  r.max_held.reset();
  r.held_after.reset();
  r.status = status;
  r.reason = std::move(reason);
  return r;
}

// A report over these rows; what else it refers to lives as long as the program.
inline report_input report_of(const std::vector<row>& rows, const session_options& options) {
  static const trace_facts facts = [] {
    trace_facts f;
    f.events = 1000;
    f.threads = 1;
    f.allocations = 500;
    f.deallocations = 500;
    f.max_live_bytes = 1000;
    return f;
  }();
  return {"run.mallard", "/usr/bin/true", {}, facts, 0.5, harness::machine_facts{}, options, rows};
}

inline report_input report_of(const std::vector<row>& rows) {
  static const session_options defaults;
  return report_of(rows, defaults);
}

}  // namespace mallard::replay::testing
