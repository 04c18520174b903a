#include "replay/session/replay_worker.hpp"

#include <unistd.h>

#include <cstdlib>

#include "harness/foreign_malloc.hpp"
#include "harness/mapping.hpp"
#include "harness/placement.hpp"
#include "harness/work.hpp"
#include "replay/allocator/strategy.hpp"
#include "replay/run/job.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::replay {

std::vector<std::string> worker_arguments(std::size_t strategy, int trace_descriptor, int job_descriptor) {
  return {worker_flag, std::to_string(strategy), std::to_string(trace_descriptor),
          std::to_string(job_descriptor)};
}

namespace {

// The malloc that must be in force; null: any.
const harness::foreign_malloc* needed_malloc(const strategy& s, const job& task) {
  if (s.bound == binding::malloc) return s.beneath;
  return task.baseline == no_baseline ? nullptr : &harness::foreign_mallocs()[task.baseline];
}

}  // namespace

void be_worker(int argc, char** argv) {
  if (argc != 5) ::_exit(2);
  harness::end_with_parent();
  const trace replayed(harness::shared_file(std::atoi(argv[3]), harness::access::read));
  const auto all = strategies(replayed.facts());
  const strategy& chosen = all[static_cast<std::size_t>(std::atoi(argv[2]))];
  const harness::shared_file page(std::atoi(argv[4]), harness::access::read_write);
  job& task = *static_cast<job*>(page.data());
  harness::do_work(task, needed_malloc(chosen, task), task.memory_limit, [&] {
    if (task.kind == job_kind::count_instructions && !harness::place_memory())
      return task.refuse(harness::work_state::failed, "callgrind maps memory elsewhere");
    (task.kind == job_kind::count_contention ? chosen.count_contention : chosen.run)(replayed, task);
  });
  ::_exit(0);
}

}  // namespace mallard::replay
