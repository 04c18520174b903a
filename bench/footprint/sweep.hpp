// sweep: multipool with its largest class at 4 KiB to 1 MiB, on one trace.
//
//     Largest   larger: few blocks pass through to the source; what they needed stays held
//               smaller: more of them cost the source's time, but they give their memory back
//
// For each, what is held, and the CPU time and page faults of passes that write every byte, as programs
// do: over the process's chunk cache and over the system alone, of which the second is the dearest source.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "footprint/metered_heap.hpp"
#include "harness/cpu_clock.hpp"
#include "harness/mapping.hpp"
#include "harness/memory_meter.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/source/counting.hpp"
#include "mallard/source/os_pages.hpp"
#include "replay/allocator/own_heap.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::footprint {
namespace detail {

inline constexpr int rounds = 3;

template <std::size_t Largest>
using classes_up_to =
    size_classes<multipool_classes::step, multipool_classes::dense, multipool_classes::per_doubling, Largest>;

// The least of some second passes: of a heap that has its chunks already, so that what is left are blocks
// that pass through.
template <class Heap>
nlohmann::ordered_json warm_pass(const replay::trace& t, const harness::scratch& slots) {
  const auto heap = std::make_unique<replay::typed_heap<Heap>>(t);
  pass<replay::touch::all>(*heap, t, slots);
  std::uint64_t ns = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t faults = ns;
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t faults_before = harness::page_faults();
    const std::uint64_t start = harness::thread_cpu_ns();
    pass<replay::touch::all>(*heap, t, slots);
    ns = std::min(ns, harness::thread_cpu_ns() - start);
    faults = std::min(faults, harness::page_faults() - faults_before);
  }
  return {{"ns", ns}, {"faults", faults}};
}

template <std::size_t Largest>
nlohmann::ordered_json row(const replay::trace& t, const harness::scratch& slots) {
  using classes = classes_up_to<Largest>;
  const auto metered = std::make_unique<metered_heap<basic_multipool<default_source, classes>>>();
  pass<replay::touch::first>(*metered, t, slots);
  return {{"largest", Largest},
          {"classes", classes::count},
          {"passed_through", metered->peaks().passed_through()},
          {"sum_of_peaks", metered->peaks().sum().granted},
          {"max_held", metered->max_held()},
          {"held_after", metered->held()},
          {"cached", warm_pass<basic_multipool<default_source, classes>>(t, slots)},
          {"uncached", warm_pass<basic_multipool<counting<os_pages>, classes>>(t, slots)}};
}

template <std::size_t... Shift>
nlohmann::ordered_json rows(const replay::trace& t, const harness::scratch& slots,
                            std::index_sequence<Shift...>) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  (list.push_back(row<std::size_t{4096} << Shift>(t, slots)), ...);
  return list;
}

}  // namespace detail

[[nodiscard]] inline nlohmann::ordered_json sweep(const replay::trace& t) {
  const harness::scratch slots(t.facts().slots * sizeof(void*), harness::fill::before_use);
  return detail::rows(t, slots, std::make_index_sequence<9>());
}

}  // namespace mallard::footprint
