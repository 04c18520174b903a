// driver<C>: a trace with what a pass of allocator C over it needs, whatever the trace is of.
//
//     allocator           block_driver     ops on blocks
//     region_allocator    region_driver    ops on regions
#pragma once

#include <cstddef>

#include "harness/mapping.hpp"
#include "replay/run/check_pass.hpp"
#include "replay/run/pass.hpp"
#include "replay/run/region_check.hpp"
#include "replay/run/region_pass.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::replay {

template <block_allocator C>
class block_driver {
 public:
  explicit block_driver(const trace& t)
      : trace_(t), slot_memory_(t.facts().slots * sizeof(void*), harness::fill::before_use) {}

  // Replays ops [from, to); the index of the one that could not be served, or `to`.
  template <touch Touch>
  std::size_t replay(C& c, std::size_t from, std::size_t to) {
    const op* const first = trace_.ops().data();
    return static_cast<std::size_t>(replay_pass<Touch>(c, first + from, first + to, slots()) - first);
  }

  check_result check(C& c) { return check_pass(c, trace_.ops(), trace_.facts().slots); }

  [[nodiscard]] void** slots() const { return static_cast<void**>(slot_memory_.data()); }

 private:
  const trace& trace_;
  harness::scratch slot_memory_;
};

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

template <class C>
concept any_allocator = block_allocator<C> || region_allocator<C>;

template <any_allocator C>
struct driver_choice {
  using type = block_driver<C>;
};
template <region_allocator C>
struct driver_choice<C> {
  using type = region_driver<C>;
};

template <any_allocator C>
using driver = typename driver_choice<C>::type;

}  // namespace mallard::replay
