// attendance: which threads take part in which group, each pair with a seat, numbered from 0.
//
//     (group 0, thread 0) -> 0     (group 4, thread 0) -> 1     (group 0, thread 2) -> 2 ...
//
// Cost: one comparison where the thread is the one that came to the group last, else a look-up; 20 bytes a
// group, and an entry of a table for each thread of a group but the first.
#pragma once

#include <cstdint>
#include <vector>

#include "journal/events/flat_table.hpp"

namespace mallard::profile {

class attendance {
 public:
  explicit attendance(std::uint32_t groups) : groups_(groups) {}

  // The seat of a thread in a group.
  std::uint32_t seat(std::uint32_t group, std::uint32_t thread) {
    state& in = groups_[group];
    if (in.threads == 0 || in.last.thread != thread)
      in.last = {.thread = thread, .seat = find(in, group, thread)};
    return in.last.seat;
  }

  // How many threads have a seat in the group.
  [[nodiscard]] std::uint32_t threads(std::uint32_t group) const noexcept { return groups_[group].threads; }

 private:
  struct guest {
    std::uint32_t thread = 0;
    std::uint32_t seat = 0;
  };
  struct state {
    std::uint32_t threads = 0;
    guest first{};  // to come, and often the only one
    guest last{};
  };

  std::uint32_t find(state& in, std::uint32_t group, std::uint32_t thread) {
    if (in.threads == 0) {
      in.first = {.thread = thread, .seat = take(in)};
      return in.first.seat;
    }
    if (in.first.thread == thread) return in.first.seat;
    const std::uint64_t pair = (std::uint64_t{group} + 1) << 32 | thread;  // never 0
    if (const auto* const taken = others_.find(pair)) return taken->value;
    const std::uint32_t taken = take(in);
    others_.insert(pair, taken);
    return taken;
  }

  std::uint32_t take(state& in) noexcept {
    ++in.threads;
    return next_++;
  }

  std::uint32_t next_ = 0;
  std::vector<state> groups_;
  journal::flat_table<std::uint64_t, std::uint32_t> others_;  // than the first
};

}  // namespace mallard::profile
