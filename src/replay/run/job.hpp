// job: one page between the tool and a worker: what to do, and what came out.
//
// Plain data in shared memory, as harness/work.hpp has it.
#pragma once

#include <cstdint>

#include "harness/work.hpp"
#include "replay/run/held_curve.hpp"
#include "replay/run/latency.hpp"
#include "replay/run/pass.hpp"

namespace mallard::replay {

enum class job_kind : std::uint8_t {
  check,
  measure,
  footprint,
  curve,
  latency,
  count_instructions,
  count_contention
};

// Whether a worker must get no huge pages: a single one can exceed what a trace needs, and a malloc may have
// one before the first operation.
[[nodiscard]] constexpr bool needs_small_pages(job_kind kind) {
  return kind == job_kind::footprint || kind == job_kind::curve;
}

inline constexpr std::uint64_t no_baseline = ~std::uint64_t{0};

struct job : harness::work_report {
  explicit job(job_kind asked) : kind(asked) {}

  // In.
  job_kind kind;
  touch touched = touch::first;
  std::uint64_t memory_limit = 0;  // bytes
  std::uint64_t warm_ns = 0;       // CPU time the warm passes last at least
  std::uint64_t litter = 0;        // times the live blocks; 0: the heap is fresh
  bool shifts = false;             // whether the heap's start is moved, if only by 0
  std::uint64_t shift = 0;         // bytes that it is moved by
  std::uint64_t copies = 1;        // of a trace's threads at once
  // Of a part: which of foreign_mallocs() all around it goes to, and must be in force; else, or where a
  // sanitizer's is, none.
  std::uint64_t baseline = no_baseline;

  // Out, with the report.
  std::uint64_t stopped_at = 0;  // op that could not be served

  // measure: CPU ns of one pass
  double cold_ns = 0;
  double warm_median_ns = 0;
  std::uint64_t warm_passes = 0;
  std::uint64_t cold_page_faults = 0;

  // measure, of a trace of threads: of one pass. CPU times above are without what the replay itself waited.
  double cold_wall_ns = 0;
  double warm_wall_ns = 0;
  double waiting_ns = 0;  // CPU time
  double voluntary_switches = 0;
  double involuntary_switches = 0;
  std::uint64_t max_live = 0;  // footprint: bytes alive at most, as the threads went

  // count_contention, of locks
  std::uint64_t lock_attempts = 0;
  std::uint64_t lock_failures = 0;  // of these, another thread had it

  // footprint, in bytes
  std::uint64_t max_held = 0;
  std::uint64_t held_after = 0;
  bool has_usage = false;  // the next three, at the moment of most live bytes
  std::uint64_t held = 0;
  std::uint64_t carved = 0;
  std::uint64_t granted = 0;

  held_curve curve;
  latency_task latency;  // in and out
};

}  // namespace mallard::replay
