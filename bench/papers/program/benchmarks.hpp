// benchmarks: those of all papers, each as what the session must know of it.
//
// To add a column to one, add an allocator to its list: <benchmark>_allocators().
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "common/measured_allocator.hpp"
#include "common/setting.hpp"

namespace mallard::bench {

class block_sizes;

// The columns; the first is what others are compared with, and the position of one is the same in every
// process of this program.
[[nodiscard]] std::span<const measured_allocator> allocators_of(benchmark which);

// The settings of a group by their names in the tables.
[[nodiscard]] nlohmann::ordered_json group_of(const setting& asked);

// What tells the figures of one turn apart, an object of members each; one empty object where there is one.
[[nodiscard]] std::vector<nlohmann::ordered_json> figures_of(const setting& asked);

// What is counted of an allocator beside its times, in the order of page::counted; empty: nothing.
[[nodiscard]] std::vector<std::string> counts_of(const setting& asked);

// Bytes an allocator of the group needs at once, about: more than a limit means that it is not tried.
[[nodiscard]] std::uint64_t bytes_needed(const setting& asked, const measured_allocator& c);

// Why there is no such group, in one line; empty if there is.
[[nodiscard]] std::string fault_of(const setting& asked);

// What the method of this benchmark has beside that of all.
[[nodiscard]] nlohmann::ordered_json method_of(const setting& asked);

// The blocks that the work of a group has alive at its most.
void count_blocks(const setting& asked, block_sizes& into);

}  // namespace mallard::bench
