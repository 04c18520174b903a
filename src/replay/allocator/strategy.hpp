// strategy: a named way to allocate, in one binding, that a trace can be replayed against.
//
// `none` first, then mallocs, the standard library's and Boost's resources, then our own heaps. To add one,
// add a line to the registry it belongs to (harness/foreign_malloc.cpp, harness/allocator/). Traces of
// regions and of threads have strategies of their own (region/region_strategies.cpp,
// allocator/thread_strategies.cpp), and so have those of a part of the program
// (allocator/part_strategies.cpp), `none` first there, too.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/binding.hpp"
#include "harness/foreign_malloc.hpp"
#include "mallard/core/align.hpp"
#include "replay/run/job.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::replay {

using harness::binding;

struct strategy {
  std::string name;
  binding bound;
  std::string summary;
  void (*run)(const trace&, job&);                   // does a job, in a worker
  const harness::foreign_malloc* beneath = nullptr;  // the malloc of the worker's process; null: the usual
                                                     // one, or, of a part, the one that all around it goes to
  std::size_t most_align = max_request;              // bytes: stricter alignments are not served
  void (*count_contention)(const trace&, job&) = nullptr;  // does a job with locks that count; null: none can
};

// Whether it is the C library's malloc as it comes, to which all times are ratios.
[[nodiscard]] inline bool is_over_glibc(const strategy& s) {
  return s.bound == binding::malloc && s.beneath != nullptr && s.beneath->name == "glibc";
}

// All that traces of this, or of a part of the program in it, can be replayed against; the position of one is
// the same in every process of this program.
[[nodiscard]] std::span<const strategy> strategies(subject of = subject::blocks, bool is_part = false);

[[nodiscard]] inline std::span<const strategy> strategies(const trace_facts& facts) {
  return strategies(facts.of, facts.part.heaps != 0);
}

// Those for regions, those for threads, those for a part; our own among those for blocks.
[[nodiscard]] std::vector<strategy> region_strategies();
[[nodiscard]] std::vector<strategy> thread_strategies();
[[nodiscard]] std::vector<strategy> part_strategies();
[[nodiscard]] std::vector<strategy> thread_part_strategies();
[[nodiscard]] std::vector<strategy> own_strategies();

}  // namespace mallard::replay
