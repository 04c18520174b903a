// attendance: which threads take part in which group, each pair with a seat, numbered from 0.
//
//     (group 0, thread 0) -> 0     (group 4, thread 0) -> 1     (group 0, thread 2) -> 2 ...
//
// Cost: one comparison where the thread is the one that came to the group last, else a look-up; memory for
// the pairs that occur.
#pragma once

#include <cstdint>
#include <vector>

#include "journal/flat_table.hpp"

namespace mallard::profile {

class attendance {
 public:
  explicit attendance(std::uint32_t groups) : groups_(groups) {}

  // The seat of a thread in a group.
  std::uint32_t seat(std::uint32_t group, std::uint32_t thread) {
    state& in = groups_[group];
    if (in.threads == 0 || in.last_thread != thread) {
      in.last_thread = thread;
      in.last_seat = find(in, group, thread);
    }
    return in.last_seat;
  }

  // How many threads have a seat in the group.
  [[nodiscard]] std::uint32_t threads(std::uint32_t group) const noexcept { return groups_[group].threads; }

 private:
  struct state {
    std::uint32_t threads = 0;
    std::uint32_t last_thread = 0;
    std::uint32_t last_seat = 0;
  };

  std::uint32_t find(state& in, std::uint32_t group, std::uint32_t thread) {
    const std::uint64_t pair = (std::uint64_t{group} + 1) << 32 | thread;  // never 0
    if (const auto* const taken = seats_.find(pair)) return taken->value;
    const auto next = static_cast<std::uint32_t>(seats_.size());
    seats_.insert(pair, next);
    ++in.threads;
    return next;
  }

  std::vector<state> groups_;
  journal::flat_table<std::uint64_t, std::uint32_t> seats_;
};

}  // namespace mallard::profile
