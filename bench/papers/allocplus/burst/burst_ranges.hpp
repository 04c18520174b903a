// Seed 001's bursts: ranges that are inserted into a list, and erased from it.
//
//     insert   [n nodes][n nodes][n nodes] ...     each range by one insert: a burst where there are any
//     erase    [n nodes][n nodes] ...              each range by one erase
//
// An event is an element. `V2one` has the version-2 protocol without bursts: a loop of allocate_one. Seed
// 001, "Testing burst allocation".
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "common/measured_allocator.hpp"
#include "common/setting.hpp"

namespace mallard::bench {

[[nodiscard]] std::span<const measured_allocator> burst_allocators();

[[nodiscard]] nlohmann::ordered_json group_of(const burst_setting& asked);

// {"part": "insert"}, {"part": "erase"}
[[nodiscard]] std::vector<nlohmann::ordered_json> figures_of(const burst_setting& asked);

// How its figures are made, beside what holds for all benchmarks.
[[nodiscard]] nlohmann::ordered_json method_of(const burst_setting& asked);

// What is counted of one list, in the order of page::counted.
[[nodiscard]] std::vector<std::string> counts_of(const burst_setting& asked);

[[nodiscard]] std::uint64_t bytes_needed(const burst_setting& asked);

}  // namespace mallard::bench
