// Benchmark IV: threads that allocate and free all the time.
//
//     AS1, AS2, mallocs           one heap, shared by W threads
//     AS3 to AS13, std., boost.   W threads, a heap of its own each, unsynchronised
//     synchronised heaps          one heap, shared by W threads
//
// One pass is 2^N pairs of one thread; a heap of its own lives as long as a pass. Seed 000, section 10.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>

#include "common/measured_allocator.hpp"
#include "common/setting.hpp"

namespace mallard::bench {

[[nodiscard]] std::span<const measured_allocator> contention_allocators();

[[nodiscard]] nlohmann::ordered_json group_of(const contention_setting& asked);

// How its figures are made, beside what holds for all benchmarks.
[[nodiscard]] nlohmann::ordered_json method_of(const contention_setting& asked);

// Of what reuses memory.
[[nodiscard]] std::uint64_t bytes_needed(const contention_setting& asked);

}  // namespace mallard::bench
