// region_driver<C>: a trace of regions with what a pass of allocator C over it needs.
#pragma once

#include <cstddef>

#include "harness/mapping.hpp"
#include "replay/run/region_check.hpp"
#include "replay/run/region_pass.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::replay {

template <region_allocator C>
class region_driver {
 public:
  explicit region_driver(const trace& t)
      : trace_(t), block_memory_(t.facts().slots * sizeof(void*), harness::fill::before_use) {}

  // Replays ops [from, to); the index of the one that could not be served, or `to`.
  template <touch Touch>
  std::size_t replay(C& c, std::size_t from, std::size_t to) {
    const region_op* const first = trace_.region_ops().data();
    void** const blocks = static_cast<void**>(block_memory_.data());
    return static_cast<std::size_t>(replay_region_pass<Touch>(c, first + from, first + to, blocks) - first);
  }

  check_result check(C& c) { return check_region_pass(c, trace_); }

 private:
  const trace& trace_;
  harness::scratch block_memory_;
};

}  // namespace mallard::replay
