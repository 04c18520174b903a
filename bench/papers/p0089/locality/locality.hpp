// Benchmark II: what a program's long life does to the time of its accesses, which no allocation is part of.
//
//     built --> every list walked --> shuffled --> the same walks again
//               \__ unshuffled __/               \___ shuffled ____/
//
// One process builds, measures, shuffles and measures again: neither is part of a time. af walks over a
// subsystem before the next one's turn, all of them rf times; an access is a walk's step to one link and the
// reading of its number. With one heap for all, a link comes to lie wherever another was; with a heap for
// each, among its own.
//
// How long is measured is told in accesses, not in rf: walks of a visit are what shows temporal locality, but
// more rounds only repeat. As the visits of one figure go on where those of the last one ended, each
// subsystem had left the caches as it would in the whole. Where even one visit is more accesses, its walks
// are measured in part: the first, and some of the later ones, which then stand for the rest.
//
//     visits with their walks | as many without a walk      next figure: visits with their walks | ...
//                      ns    -      going round = time of the accesses, at least 0
//
// What it takes to go from subsystem to subsystem is subtracted, as in the paper, which knows it from runs
// with af = 0. The visits without a walk are to the subsystems whose turn is next: they were left alone as
// long as those that were walked over. Of a run in the paper's notation nothing is subtracted, for that with
// af = 0 can be asked for.
// Seed 000, section 8.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/measured_allocator.hpp"
#include "common/setting.hpp"

namespace mallard::bench {

[[nodiscard]] std::span<const measured_allocator> locality_allocators();

[[nodiscard]] nlohmann::ordered_json group_of(const locality_setting& asked);

// {"split", "shuffled"}, {"factor"} or {"part", "events"}.
[[nodiscard]] std::vector<nlohmann::ordered_json> figures_of(const locality_setting& asked);

[[nodiscard]] nlohmann::ordered_json method_of(const locality_setting& asked);

[[nodiscard]] std::uint64_t bytes_needed(const locality_setting& asked, const measured_allocator& c);

// Why there is no such group, in one line; empty if there is.
[[nodiscard]] std::string fault_of(const locality_setting& asked);

// Of a list's link: two pointers and a number.
inline constexpr std::size_t link_bytes = 24;

// |G| and |S|, in links; all subsystems have as many, so |G| is a multiple of it.
struct extent {
  std::uint64_t global;
  std::uint64_t subsystem;
};

[[nodiscard]] extent extent_of(const locality_setting& asked);

// af where shuffle factors are compared (Table 15).
inline constexpr std::uint64_t factors_walks = 10;

enum class run_part { build, shuffle, access, total };

inline constexpr std::array run_parts{run_part::build, run_part::shuffle, run_part::access, run_part::total};

// A run in the paper's notation: |G| |S| af sf rf, as "-21 18 8 +3 32".
//
//     |G| < 0    both sizes are binary exponents: 2^21 links, 2^18 a subsystem
//     sf < 0     the access comes before the shuffle
//
// af or rf may be 0: then the visits are without walks, or there are none. Nothing if it is no five numbers,
// or if one is out of range: subsystems must be at most as large as the whole, the whole at most 2^40 links,
// the factors at most 2^20.
[[nodiscard]] std::optional<locality_run> parse_run(std::string_view text);

// What the time of a part is divided by: links made, pairs, accesses; 1 where it is a time of its own.
[[nodiscard]] std::uint64_t events_of(run_part part, const locality_run& asked);

}  // namespace mallard::bench
