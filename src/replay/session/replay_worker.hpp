// replay_worker: the process one allocator runs in; this program again, started with hidden arguments.
//
//     mallard-replay --worker STRATEGY TRACE JOB      indices into strategies() and two inherited descriptors
//
// It does the one job written on the job page and ends without cleaning up, so that neither the
// allocator's destructor nor the C library's end can disturb what was found.
#pragma once

#include <string>
#include <vector>

namespace mallard::replay {

inline constexpr const char* worker_flag = "--worker";

[[nodiscard]] std::vector<std::string> worker_arguments(std::size_t strategy, int trace_descriptor,
                                                        int job_descriptor);

// Runs the worker; precondition: arguments made by worker_arguments.
[[noreturn]] void be_worker(int argc, char** argv);

}  // namespace mallard::replay
