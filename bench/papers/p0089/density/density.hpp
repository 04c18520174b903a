// Benchmark I: data structures are built, lightly used and destroyed, isolated from each other.
//
//     a new heap --> DSn built in it --> every leaf written once --> destroyed, or left to the heap's end
//     \_______________________________ one iteration ________________________________________________/
//
// The time of an iteration begins before its heap and ends after it. Seed 000, section 7.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <utility>

#include "common/measured_allocator.hpp"
#include "common/page.hpp"
#include "common/pmr_bindings.hpp"
#include "common/setting.hpp"
#include "common/typed_bindings.hpp"
#include "harness/cpu_clock.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/heap/sized_reap.hpp"
#include "p0089/density/structures.hpp"

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

// measure_density: what a leaf costs with one allocator, on a fresh process: the first iteration cold, then
// as many as the leaves asked for take, at least one.

template <class Structure, destruction End, class Binding>
void live_once(Binding& binding, std::size_t elements, const texts& from) {
  typename Binding::life life(binding);
  leaf_cursor leaves(from);
  const auto allocator = life.template allocator_of<typename Structure::value_type>();
  if constexpr (End == destruction::normal) {
    Structure made(allocator);
    fill(made, elements, leaves);
    write_leaves(made);
  } else {
    auto* const made = ::new (life.allocate(sizeof(Structure), alignof(Structure))) Structure(allocator);
    fill(*made, elements, leaves);
    write_leaves(*made);
  }
}

template <class Structure, destruction End, class Binding>
void measure_structure(Binding& binding, page& p) {
  const density_setting& asked = p.asked.density;
  const std::size_t elements = std::size_t{1} << asked.size;
  const std::uint64_t leaves = leaves_of(asked);
  const std::uint64_t iterations = std::max<std::uint64_t>((std::uint64_t{1} << asked.leaves) / leaves, 1);
  const texts from;
  meter memory;
  const std::uint64_t start = harness::thread_cpu_ns();
  live_once<Structure, End>(binding, elements, from);
  const std::uint64_t warm = harness::thread_cpu_ns();
  memory.first_is_over();
  for (std::uint64_t i = 0; i < iterations; ++i) live_once<Structure, End>(binding, elements, from);
  const std::uint64_t end = harness::thread_cpu_ns();
  p.found[0] = {static_cast<double>(warm - start) / static_cast<double>(leaves),
                static_cast<double>(end - warm) / static_cast<double>(iterations * leaves),
                {}};
  memory.write(p);
}

template <destruction End, class Hash, int N, class Binding>
void measure_nth(Binding& binding, page& p) {
  measure_structure<typename structures<Binding>::template of<N, Hash>, End>(binding, p);
}

template <destruction End, class Binding>
void measure_ended(Binding& binding, page& p) {
  const density_setting& asked = p.asked.density;
  const auto choose = [&]<class Hash, int... N>(std::type_identity<Hash>, std::integer_sequence<int, N...>) {
    (void)((asked.structure == N + 1 && (measure_nth<End, Hash, N + 1>(binding, p), true)) || ...);
  };
  constexpr std::make_integer_sequence<int, 12> all;
  if (asked.cached_hashes)
    choose(std::type_identity<kept_hash>(), all);
  else
    choose(std::type_identity<unkept_hash>(), all);
  p.state = harness::work_state::done;
}

template <class Binding>
void measure_density(Binding& binding, destruction end, page& p) {
  end == destruction::normal ? measure_ended<destruction::normal>(binding, p)
                             : measure_ended<destruction::winkout>(binding, p);
}

// The bindings that it is compiled for apart: each means a dozen containers twice over. Through std::pmr no
// resource is known there.
void measure_density(global_binding& binding, destruction end, page& p);
void measure_density(typed_binding<monotonic>& binding, destruction end, page& p);
void measure_density(typed_binding<multipool>& binding, destruction end, page& p);
void measure_density(typed_binding<multipool_over_monotonic>& binding, destruction end, page& p);
void measure_density(typed_binding<lifo_multipool>& binding, destruction end, page& p);
void measure_density(typed_binding<sized_reap>& binding, destruction end, page& p);
void measure_density(pmr_binding& binding, destruction end, page& p);

}  // namespace mallard::bench
