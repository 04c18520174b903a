// Benchmark I: data structures are built, lightly used and destroyed, isolated from each other.
//
//     a new heap --> DSn built in it --> every leaf written once --> destroyed, or left to the heap's end
//     \_______________________________ one iteration ________________________________________________/
//
// The time of an iteration begins before its heap and ends after it. Seed 000, section 7.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "common/measured_allocator.hpp"
#include "common/setting.hpp"

namespace mallard::bench {

class block_sizes;

[[nodiscard]] std::span<const measured_allocator> density_allocators();

[[nodiscard]] nlohmann::ordered_json group_of(const density_setting& asked);

[[nodiscard]] std::uint64_t bytes_needed(const density_setting& asked);

// Why there is no such group, in one line; empty if there is.
[[nodiscard]] std::string fault_of(const density_setting& asked);

// What its figures are.
[[nodiscard]] nlohmann::ordered_json method_of(const density_setting& asked);

// The blocks of one data structure.
void count_blocks(const density_setting& asked, block_sizes& into);

// Leaves of one data structure.
[[nodiscard]] std::uint64_t leaves_of(const density_setting& asked);

}  // namespace mallard::bench
