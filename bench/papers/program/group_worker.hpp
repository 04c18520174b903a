// group_worker: the process that one turn of an allocator runs in; this program again, with hidden arguments.
//
//     mallard-bench --worker ALLOCATOR PAGE      an index, and the inherited descriptor of the page
//
// It ends without cleaning up.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace mallard::bench {

inline constexpr const char* worker_flag = "--worker";

[[nodiscard]] std::vector<std::string> worker_arguments(std::size_t allocator, int page_descriptor);

// Precondition: arguments made by worker_arguments.
[[noreturn]] void be_worker(int argc, char** argv);

}  // namespace mallard::bench
