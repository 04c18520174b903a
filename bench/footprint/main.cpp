// footprint JOURNAL: what multipool holds for a journal, beside pools that lose nothing and what others
// hold, as JSON. `footprint --sweep JOURNAL` varies the largest class instead.

#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "footprint/held_by.hpp"
#include "footprint/metered_heap.hpp"
#include "footprint/sweep.hpp"
#include "harness/mapping.hpp"
#include "journal/open.hpp"
#include "mallard/heap/multipool.hpp"
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

ordered_json other_figures(const replay::trace& t) {
  ordered_json list = ordered_json::array();
  for (const char* name : others) {
    const footprint::held_figures found = footprint::held_by(name, t);
    if (found.reason.empty())
      list.push_back({{"strategy", name}, {"max_held", found.max_held}, {"held_after", found.held_after}});
    else
      list.push_back({{"strategy", name}, {"reason", found.reason}});
  }
  return list;
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
    found["sweep"] = footprint::sweep(t);
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
