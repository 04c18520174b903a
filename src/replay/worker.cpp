#include "replay/worker.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>

#include "harness/mapping.hpp"
#include "harness/memory_meter.hpp"
#include "replay/job.hpp"
#include "replay/strategy.hpp"
#include "replay/trace.hpp"

namespace mallard::replay {

std::vector<std::string> worker_arguments(std::size_t strategy, int trace_descriptor, int job_descriptor) {
  return {worker_flag, std::to_string(strategy), std::to_string(trace_descriptor),
          std::to_string(job_descriptor)};
}

void be_worker(int argc, char** argv) {
  if (argc != 5) ::_exit(2);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // no worker outlives the tool that waits for it
  const strategy& chosen = strategies()[static_cast<std::size_t>(std::atoi(argv[2]))];
  const trace replayed(harness::shared_file(std::atoi(argv[3]), harness::access::read));
  const harness::shared_file page(std::atoi(argv[4]), harness::access::read_write);
  job& task = *static_cast<job*>(page.data());
  try {
    const bool is_malloc = chosen.bound == binding::malloc;
    const std::string fault = is_malloc ? harness::malloc_fault(*chosen.beneath) : std::string();
    if (!fault.empty())
      task.refuse(job_state::unavailable, fault);
    else if (!harness::limit_data(task.memory_limit))
      task.refuse(job_state::failed, "the memory limit could not be set");
    else
      chosen.run(replayed, task);
  } catch (const std::bad_alloc&) {
    task.refuse(job_state::out_of_memory, "std::bad_alloc");
  } catch (const std::exception& e) {
    task.refuse(job_state::failed, e.what());
  }
  ::_exit(0);
}

}  // namespace mallard::replay
