// Seed 001's shrink to fit: a vector that loses its last five elements and gives back what it has too much.
//
//     [1 ........ n] --> erase 5, shrink_to_fit --> [1 .... n-5] --> ... --> []
//
// An event is a shrink_to_fit. Seed 001, "Testing shrink to fit in vector".
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "common/measured_allocator.hpp"
#include "common/setting.hpp"

namespace mallard::bench {

// Elements that are erased at a time.
inline constexpr std::uint32_t shrink_step = 5;

[[nodiscard]] std::span<const measured_allocator> shrink_allocators();

[[nodiscard]] nlohmann::ordered_json group_of(const shrink_setting& asked);

// How its figures are made, beside what holds for all benchmarks.
[[nodiscard]] nlohmann::ordered_json method_of(const shrink_setting& asked);

// What is counted of one iteration, in the order of page::counted.
[[nodiscard]] std::vector<std::string> counts_of(const shrink_setting& asked);

[[nodiscard]] std::uint64_t bytes_needed(const shrink_setting& asked);

// Why there is no such group, in one line; empty if there is.
[[nodiscard]] std::string fault_of(const shrink_setting& asked);

}  // namespace mallard::bench
