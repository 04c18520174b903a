// footprint JOURNAL: what multipool holds for a journal, beside pools that lose nothing and what others
// hold, as JSON. `footprint --sweep JOURNAL` varies the largest class instead.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "footprint/metered_heap.hpp"
#include "harness/cpu_clock.hpp"
#include "harness/launcher.hpp"
#include "harness/mapping.hpp"
#include "harness/memory_meter.hpp"
#include "harness/session.hpp"
#include "journal/open.hpp"
#include "mallard/heap/multipool.hpp"
#include "mallard/source/counting.hpp"
#include "mallard/source/os_pages.hpp"
#include "replay/allocator/own_heap.hpp"
#include "replay/allocator/strategy.hpp"
#include "replay/run/job.hpp"
#include "replay/session/replay_worker.hpp"
#include "replay/trace/trace_builder.hpp"

namespace {

using namespace mallard;
using nlohmann::ordered_json;

// Beside it: ours and others' pools, and a malloc.
constexpr const char* others[] = {"multipool/monotonic", "std.pool", "boost.pool", "glibc"};

ordered_json to_json(const footprint::tally& t) {
  return {{"requested", t.requested}, {"granted", t.granted}};
}

ordered_json multipool_figures(const replay::trace& t) {
  const harness::scratch slots(t.facts().slots * sizeof(void*), harness::fill::before_use);
  const auto metered = std::make_unique<footprint::metered_heap<multipool>>();
  footprint::pass<replay::touch::first>(*metered, t, slots);
  const auto& peaks = metered->peaks();
  return {{"classes", multipool::classes::count},
          {"classes_used", peaks.used()},
          {"at_max_live", to_json(peaks.at_max_live())},
          {"sum_of_peaks", to_json(peaks.sum())},
          {"passed_peak", peaks.passed_peak()},
          {"passed_through", peaks.passed_through()},
          {"max_held", metered->max_held()},
          {"held_after", metered->held()},
          {"max_mapped", metered->max_mapped()},
          {"mapped_after", metered->mapped()},
          {"worst_held", metered->worst_held()},
          {"worst_rounding", metered->worst_rounding()}};
}

// What a strategy of the replay holds for a trace, found in a process of its own: one pass, every byte
// written. Heaps and pmr resources are counted where they take memory, foreign mallocs by the kernel.
struct held_figures {
  std::uint64_t max_held = 0;    // bytes
  std::uint64_t held_after = 0;  // bytes
  std::string reason;            // why there are none; empty: there are
};

// Precondition: there is a strategy of this name.
held_figures held_by(std::string_view strategy, const replay::trace& t) {
  const auto all = replay::strategies();
  const auto chosen = std::ranges::find(all, strategy, &replay::strategy::name);
  if (t.facts().max_align > chosen->most_align) return {0, 0, "it does not serve the journal's alignments"};

  const harness::shared_file page(sizeof(replay::job));
  replay::job& task = *::new (page.data()) replay::job(replay::job_kind::footprint);
  task.memory_limit = harness::available_memory();
  const auto index = static_cast<std::size_t>(chosen - all.begin());
  harness::launch_plan plan = harness::worker_plan(
      replay::worker_arguments(index, t.descriptor(), page.descriptor()), chosen->beneath);
  plan.small_pages = replay::needs_small_pages(task.kind);
  const harness::outcome end = harness::launch(plan);
  if (!end.clean()) return {0, 0, harness::describe(end)};
  if (task.state != harness::work_state::done) return {0, 0, task.reason.data()};
  return {task.max_held, task.held_after, {}};
}

ordered_json other_figures(const replay::trace& t) {
  ordered_json list = ordered_json::array();
  for (const char* name : others) {
    const held_figures found = held_by(name, t);
    if (found.reason.empty())
      list.push_back({{"strategy", name}, {"max_held", found.max_held}, {"held_after", found.held_after}});
    else
      list.push_back({{"strategy", name}, {"reason", found.reason}});
  }
  return list;
}

// The sweep: multipool with its largest class at 4 KiB to 1 MiB, on one trace.
//
//     Largest   larger: few blocks pass through to the source; what they needed stays held
//               smaller: more of them cost the source's time, but they give their memory back
//
// For each, what is held, and the CPU time and page faults of passes that write every byte, as programs
// do: over the process's chunk cache and over the system alone, of which the second is the most expensive
// source.
constexpr int rounds = 3;

template <std::size_t Largest>
using classes_up_to =
    size_classes<multipool_classes::step, multipool_classes::dense, multipool_classes::per_doubling, Largest>;

// The least of some second passes: of a heap that has its chunks already, so that what is left are blocks
// that pass through.
template <class Heap>
ordered_json warm_pass(const replay::trace& t, const harness::scratch& slots) {
  const auto heap = std::make_unique<replay::typed_heap<Heap>>(t);
  footprint::pass<replay::touch::all>(*heap, t, slots);
  std::uint64_t ns = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t faults = ns;
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t faults_before = harness::page_faults();
    const std::uint64_t start = harness::thread_cpu_ns();
    footprint::pass<replay::touch::all>(*heap, t, slots);
    ns = std::min(ns, harness::thread_cpu_ns() - start);
    faults = std::min(faults, harness::page_faults() - faults_before);
  }
  return {{"ns", ns}, {"faults", faults}};
}

template <std::size_t Largest>
ordered_json row(const replay::trace& t, const harness::scratch& slots) {
  using classes = classes_up_to<Largest>;
  const auto metered = std::make_unique<footprint::metered_heap<basic_multipool<default_source, classes>>>();
  footprint::pass<replay::touch::first>(*metered, t, slots);
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
ordered_json rows(const replay::trace& t, const harness::scratch& slots, std::index_sequence<Shift...>) {
  ordered_json list = ordered_json::array();
  (list.push_back(row<std::size_t{4096} << Shift>(t, slots)), ...);
  return list;
}

ordered_json sweep(const replay::trace& t) {
  const harness::scratch slots(t.facts().slots * sizeof(void*), harness::fill::before_use);
  return rows(t, slots, std::make_index_sequence<9>());
}

int refuse(const std::string& what) {
  std::fprintf(stderr, "footprint: %s\n", what.c_str());
  return 2;
}

int weigh(const char* journal, bool sweeping) try {
  const replay::trace t = replay::build_trace(*journal::open(journal));
  ordered_json found{{"events", t.facts().events},
                     {"max_live", t.facts().max_live_bytes},
                     {"max_live_objects", t.facts().max_live_objects}};
  if (sweeping) {
    found["sweep"] = sweep(t);
  } else {
    found["multipool"] = multipool_figures(t);
    found["others"] = other_figures(t);
  }
  std::printf("%s\n", found.dump(2).c_str());
  return 0;
} catch (const journal::error& e) {
  return refuse("cannot read " + std::string(journal) + ": " + e.what());
} catch (const std::exception& e) {
  return refuse(e.what());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], replay::worker_flag) == 0) replay::be_worker(argc, argv);
  const bool sweeping = argc == 3 && std::strcmp(argv[1], "--sweep") == 0;
  if (argc != 2 && !sweeping) return refuse("usage: footprint [--sweep] JOURNAL");
  return weigh(argv[argc - 1], sweeping);
}
