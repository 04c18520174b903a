// Seed 001's expansion: vectors that grow one element at a time, and the command alone that grows a block.
//
//     push_back   [1][2][3] ... [n]                               a vector of n ints, again and again
//     command     [hole 3n/2][ n ]  -->  [   2n   ]               what the allocator's mask lets it do:
//                                                                 backward, forward, or new and free the old
//
// An event is an element of push_back, a growth of command. Of command the time is what two loops differ by,
// one with the growth and one without. Seed 001, "Testing forward expansion in vector" and "Testing backwards
// expansion in vector".
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "common/measured_allocator.hpp"
#include "common/setting.hpp"

namespace mallard::bench {

[[nodiscard]] std::span<const measured_allocator> expansion_allocators();

[[nodiscard]] nlohmann::ordered_json group_of(const expansion_setting& asked);

// How its figures are made, beside what holds for all benchmarks.
[[nodiscard]] nlohmann::ordered_json method_of(const expansion_setting& asked);

// What is counted of one iteration, in the order of page::counted.
[[nodiscard]] std::vector<std::string> counts_of(const expansion_setting& asked);

[[nodiscard]] std::uint64_t bytes_needed(const expansion_setting& asked);

}  // namespace mallard::bench
