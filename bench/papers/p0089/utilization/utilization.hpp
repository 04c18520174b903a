// Benchmark III: much is allocated in all, little of it is alive at a time.
//
//     [a][b][c][d]  -->  free a, allocate e  -->  free b, allocate f  ...  -->  free one by one
//     2^A bytes             the least recently allocated, until 2^T bytes were allocated
//
// What reuses no memory needs 2^T bytes for it: it is tried all the same, and its row says how far it came
// (the paper's "fail"). Seed 000, section 9.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "common/measured_allocator.hpp"
#include "common/setting.hpp"

namespace mallard::bench {

[[nodiscard]] std::span<const measured_allocator> utilization_allocators();

[[nodiscard]] nlohmann::ordered_json group_of(const utilization_setting& asked);

// What its figures are.
[[nodiscard]] nlohmann::ordered_json method_of(const utilization_setting& asked);

// Of what reuses memory.
[[nodiscard]] std::uint64_t bytes_needed(const utilization_setting& asked);

// Why there is no such group, in one line; empty if there is.
[[nodiscard]] std::string fault_of(const utilization_setting& asked);

}  // namespace mallard::bench
