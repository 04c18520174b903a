// Benchmark II: what a program's long life does to the time of its accesses, which no allocation is part of.
//
//     built --> every list walked --> shuffled --> the same walks again
//               \__ unshuffled __/               \___ shuffled ____/
//
// One process builds, measures, shuffles and measures again: neither is part of a time. af walks over a
// subsystem before the next one's turn, all of them rf times; an access is a walk's step to one link and the
// reading of its number. With one heap for all, a link lies wherever another was; with a heap for
// each, among its own.
//
// The length of a measurement is given in accesses, not in rf: walks of a visit are what shows temporal
// locality, but more rounds only repeat. As the visits of one figure go on where those of the last one ended,
// each subsystem had left the caches as it would in the whole. Where even one visit is more accesses, its
// walks are measured in part: the first, and some of the later ones, which then represent the rest.
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

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/measured_allocator.hpp"
#include "common/page.hpp"
#include "common/pmr_bindings.hpp"
#include "common/setting.hpp"
#include "harness/cpu_clock.hpp"
#include "p0089/locality/whole_system.hpp"

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

// measure_locality: what an access costs with one allocator, on a fresh process; figures as figures_of names
// them.

inline double ns_per(std::uint64_t events, double ns) {
  return events == 0 ? 0 : ns / static_cast<double>(events);
}

// Of a series of visits, less what going round takes: as many visits without a walk, of those whose turn is
// next. What is too short to be distinguished from that counts as nothing.
template <class System>
double net_ns_per_access(System& all, std::uint64_t visits, std::uint64_t walks) {
  const visit_times took = all.visit(visits, walks);
  const double going_round = all.visit(visits, 0).ns;
  return ns_per(took.accesses, std::max(took.ns - going_round, 0.0));
}

// As many visits as the accesses allow; at least one, of which at least two walks are made.
template <class System>
double ns_per_access(System& all, const extent& of, std::uint64_t walks, std::uint64_t accesses) {
  const std::uint64_t made =
      std::clamp<std::uint64_t>(accesses / of.subsystem, std::min<std::uint64_t>(2, walks), walks);
  if (made == walks)
    return net_ns_per_access(all, std::max<std::uint64_t>(accesses / (of.subsystem * walks), 1), walks);
  const visit_times took = all.visit_in_part(walks, made);
  return ns_per(took.accesses, took.ns);
}

// Once round, as far as the accesses allow: what has been built or shuffled meets the caches.
template <class System>
double first_ns_per_access(System& all, const extent& of, std::uint64_t accesses) {
  return net_ns_per_access(all, std::clamp<std::uint64_t>(accesses / of.subsystem, 1, all.subsystems()), 1);
}

template <class Binding>
void measure_splits(whole_system<Binding>& all, const extent& of, page& p) {
  const locality_setting& asked = p.asked.locality;
  figure* next = p.found.data();
  const auto splits = [&] {
    const double cold = first_ns_per_access(all, of, asked.accesses);
    for (std::uint32_t i = 0; i <= asked.product; ++i)
      *next++ = {cold, ns_per_access(all, of, std::uint64_t{1} << (asked.product - i), asked.accesses), {}};
  };
  splits();
  all.shuffle(asked.shuffles * of.global);
  splits();
}

template <class Binding>
void measure_factors(whole_system<Binding>& all, const extent& of, page& p) {
  const locality_setting& asked = p.asked.locality;
  for (std::uint32_t i = 0; i <= asked.shuffles; ++i) {
    if (i != 0) all.shuffle(of.global);
    const double cold = first_ns_per_access(all, of, asked.accesses);
    p.found[i] = {cold, ns_per_access(all, of, factors_walks, asked.accesses), {}};
  }
}

template <class Binding>
void measure_run(whole_system<Binding>& all, const extent& of, double build_ns, page& p) {
  const locality_run& asked = p.asked.locality.run;
  double access_ns = 0;
  const auto access = [&] { access_ns = all.visit(asked.repeat * all.subsystems(), asked.access).ns; };
  if (asked.access_first) access();
  const std::uint64_t start = harness::thread_cpu_ns();
  all.shuffle(asked.shuffle * of.global);
  const auto shuffle_ns = static_cast<double>(harness::thread_cpu_ns() - start);
  if (!asked.access_first) access();
  const std::array<double, run_parts.size()> took{build_ns, shuffle_ns, access_ns,
                                                  build_ns + shuffle_ns + access_ns};
  for (std::size_t i = 0; i < took.size(); ++i)
    p.found[i].warm_ns = ns_per(events_of(run_parts[i], asked), took[i]);
}

// Returns what it has measured: its end takes as long as its making, and a process may end without.
template <class Binding>
std::unique_ptr<whole_system<Binding>> measure_locality(Binding& binding, page& p) {
  const extent of = extent_of(p.asked.locality);
  meter memory;
  const std::uint64_t start = harness::thread_cpu_ns();
  auto all = std::make_unique<whole_system<Binding>>(binding, of.global, of.subsystem);
  const std::uint64_t built = harness::thread_cpu_ns();
  memory.first_is_over();
  switch (p.asked.locality.table) {
    case locality_table::splits:
      measure_splits(*all, of, p);
      break;
    case locality_table::factors:
      measure_factors(*all, of, p);
      break;
    case locality_table::run:
      measure_run(*all, of, static_cast<double>(built - start), p);
      break;
  }
  memory.write(p);
  p.state = harness::work_state::done;
  return all;
}

// The same through std::pmr, compiled where no resource is known.
std::unique_ptr<whole_system<owned_pmr_binding>> measure_locality(owned_pmr_binding& binding, page& p);

}  // namespace mallard::bench
