// Seed 001's pools: eight allocators of nodes and others beside, their times and what they do with memory.
//
//     ranges    [n nodes][n nodes] ...   the seed's: a list takes ranges in and gives them up
//     nodes     [n][n][n][n] ...         single ones: cold, warm, at random, turned over, few; walks
//     threads                            four, each with a list
//
// An event is a node of 24 bytes. Seed 001, "Testing adaptive_pool".
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "common/measured_allocator.hpp"
#include "common/setting.hpp"

namespace mallard::bench {

[[nodiscard]] std::span<const measured_allocator> pool_allocators();

[[nodiscard]] nlohmann::ordered_json group_of(const pools_setting& asked);

// {"part": "insert"}, {"part": "erase"} of ranges, and so on.
[[nodiscard]] std::vector<nlohmann::ordered_json> figures_of(const pools_setting& asked);

// How its figures are made, beside what holds for all benchmarks.
[[nodiscard]] nlohmann::ordered_json method_of(const pools_setting& asked);

// Of memory, in bytes, in the order of page::counted.
[[nodiscard]] std::vector<std::string> counts_of(const pools_setting& asked);

[[nodiscard]] std::uint64_t bytes_needed(const pools_setting& asked);

}  // namespace mallard::bench
