// Benchmark IV: threads that allocate and free all the time.
//
//     AS1, AS2, mallocs           one heap, shared by W threads
//     AS3 to AS13, std., boost.   W threads, a heap of its own each, unsynchronised
//     synchronised heaps          one heap, shared by W threads
//
// One pass is 2^N pairs of one thread; a heap of its own lives as long as a pass. Seed 000, section 10.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>

#include "common/measured_allocator.hpp"
#include "common/page.hpp"
#include "common/pmr_bindings.hpp"
#include "common/race.hpp"
#include "common/setting.hpp"
#include "common/typed_bindings.hpp"

namespace mallard::bench {

[[nodiscard]] std::span<const measured_allocator> contention_allocators();

[[nodiscard]] nlohmann::ordered_json group_of(const contention_setting& asked);

// How its figures are made, beside what holds for all benchmarks.
[[nodiscard]] nlohmann::ordered_json method_of(const contention_setting& asked);

// Of what reuses memory.
[[nodiscard]] std::uint64_t bytes_needed(const contention_setting& asked);

// measure_contention: what a pair costs where several threads are at it, on a fresh process.
//
//     no pass    threads that touch their stacks, which the others then have
//     1 pass     cold
//     1 pass     says how many passes take a least CPU time
//     that many  warm
//
// Each is a race of new threads.
// Of each thread, at least about, in the warm race: some time slices of the system's.
inline constexpr std::uint64_t least_cpu_ns = 30'000'000;

// pass(pairs, size): the pairs of one pass of one thread. The page is complete but for its state.
template <class Pass>
void measure_contention(page& p, Pass pass) {
  const contention_setting& asked = p.asked.contention;
  const std::uint64_t pairs = std::uint64_t{1} << asked.iterations;
  const auto run = [&](std::uint64_t passes) {
    return race(asked.threads, passes, [&] { pass(pairs, std::size_t{1} << asked.block); });
  };
  make_stacks_small();
  (void)race(asked.threads, 1, touch_stack);
  meter memory;
  const race_times cold = run(1);
  memory.first_is_over();
  const std::uint64_t second = std::max<std::uint64_t>(run(1).cpu_ns, 1);
  const std::uint64_t passes = least_cpu_ns * asked.threads / second + 1;
  const race_times warm = run(passes);
  const auto events = static_cast<double>(pairs * asked.threads);
  p.found[0] = {static_cast<double>(cold.cpu_ns) / events,
                static_cast<double>(warm.cpu_ns) / events / static_cast<double>(passes),
                static_cast<double>(warm.wall_ns) / events / static_cast<double>(passes)};
  memory.write(p);
}

// One pass of one thread: one block after the other, each freed before the next is allocated.
// Life: the life of a binding.
template <class Life>
void run_pairs(Life& life, std::uint64_t pairs, std::size_t size) {
  constexpr std::size_t alignment = alignof(std::max_align_t);
  for (std::uint64_t i = 0; i < pairs; ++i) {
    void* const block = life.allocate(size, alignment);
    touch(block);
    life.deallocate(block, size, alignment);
    part_calls();
  }
}

// The same through std::pmr, compiled where no resource is known.
void run_pairs(pmr_binding::life& life, std::uint64_t pairs, std::size_t size);

}  // namespace mallard::bench
