// The three benchmarks of seed 001 on vectors and lists.
//
// expansion: vectors that grow one element at a time, and the command alone that grows a block.
//
//     push_back   [1][2][3] ... [n]                               a vector of n ints, again and again
//     command     [hole 3n/2][ n ]  -->  [   2n   ]               what the allocator's mask lets it do:
//                                                                 backward, forward, or new and free the old
//
// An event is an element of push_back, a growth of command. Of command the time is what two loops differ by,
// one with the growth and one without. Seed 001, "Testing forward expansion in vector" and "Testing backwards
// expansion in vector".
//
// shrink: a vector that loses its last five elements and gives back what it has too much.
//
//     [1 ........ n] --> erase 5, shrink_to_fit --> [1 .... n-5] --> ... --> []
//
// An event is a shrink_to_fit. Seed 001, "Testing shrink to fit in vector".
//
// burst: ranges that are inserted into a list, and erased from it.
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

// Elements that are erased at a time.
inline constexpr std::uint32_t shrink_step = 5;

[[nodiscard]] std::span<const measured_allocator> expansion_allocators();
[[nodiscard]] std::span<const measured_allocator> shrink_allocators();
[[nodiscard]] std::span<const measured_allocator> burst_allocators();

[[nodiscard]] nlohmann::ordered_json group_of(const expansion_setting& asked);
[[nodiscard]] nlohmann::ordered_json group_of(const shrink_setting& asked);
[[nodiscard]] nlohmann::ordered_json group_of(const burst_setting& asked);

// {"part": "insert"}, {"part": "erase"}
[[nodiscard]] std::vector<nlohmann::ordered_json> figures_of(const burst_setting& asked);

// How its figures are made, beside what holds for all benchmarks.
[[nodiscard]] nlohmann::ordered_json method_of(const expansion_setting& asked);
[[nodiscard]] nlohmann::ordered_json method_of(const shrink_setting& asked);
[[nodiscard]] nlohmann::ordered_json method_of(const burst_setting& asked);

// What is counted of one iteration, one vector, one list, in the order of page::counted.
[[nodiscard]] std::vector<std::string> counts_of(const expansion_setting& asked);
[[nodiscard]] std::vector<std::string> counts_of(const shrink_setting& asked);
[[nodiscard]] std::vector<std::string> counts_of(const burst_setting& asked);

[[nodiscard]] std::uint64_t bytes_needed(const expansion_setting& asked);
[[nodiscard]] std::uint64_t bytes_needed(const shrink_setting& asked);
[[nodiscard]] std::uint64_t bytes_needed(const burst_setting& asked);

// Why there is no such group, in one line; empty if there is.
[[nodiscard]] std::string fault_of(const shrink_setting& asked);

}  // namespace mallard::bench
