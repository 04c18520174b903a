#include "program/group_worker.hpp"

#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "common/block_sizes.hpp"
#include "common/page.hpp"
#include "harness/litter.hpp"
#include "harness/mapping.hpp"
#include "harness/work.hpp"
#include "program/benchmarks.hpp"

namespace mallard::bench {
namespace {

// The process's malloc is littered, whoever is measured: resources take their chunks from it. Heaps of ours
// have pages of their own, which nothing litters. False if it could not be.
bool litter_malloc(std::optional<harness::litter>& into, page& task) {
  if (task.asked.litter == 0) return true;
  block_sizes blocks;
  count_blocks(task.asked, blocks);
  into.emplace(harness::calls_of_malloc(), blocks.plan(task.asked.litter));
  if (into->shortage() != nullptr) task.refuse(harness::work_state::out_of_memory, into->shortage());
  return into->shortage() == nullptr;
}

}  // namespace

std::vector<std::string> worker_arguments(std::size_t allocator, int page_descriptor) {
  return {worker_flag, std::to_string(allocator), std::to_string(page_descriptor)};
}

void be_worker(int argc, char** argv) {
  if (argc != 4) ::_exit(2);
  harness::end_with_parent();
  const harness::shared_file memory(std::atoi(argv[3]), harness::access::read_write);
  page& task = *static_cast<page*>(memory.data());
  const measured_allocator& chosen =
      allocators_of(task.asked.which)[static_cast<std::size_t>(std::atoi(argv[2]))];
  std::optional<harness::litter> litter;
  harness::do_work(
      task, chosen.bound == binding::malloc ? chosen.beneath : nullptr, task.memory_limit,
      [&] { return litter_malloc(litter, task); }, [&] { chosen.run(task); });
  ::_exit(0);
}

}  // namespace mallard::bench
