// measure_locality: what an access costs with one allocator, on a fresh process; figures as figures_of names
// them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "common/meter.hpp"
#include "common/page.hpp"
#include "common/pmr_bindings.hpp"
#include "harness/cpu_clock.hpp"
#include "p0089/locality/locality.hpp"
#include "p0089/locality/whole_system.hpp"

namespace mallard::bench {

inline double ns_per(std::uint64_t events, double ns) {
  return events == 0 ? 0 : ns / static_cast<double>(events);
}

// Of a series of visits, less what going round takes: as many visits without a walk, of those whose turn is
// next. What is too short to be told from that is nothing.
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
