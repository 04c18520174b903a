// contention_meter: C of groups, from the rates of their threads in spans of 1 ms.
//
//     span      |  0  |  1  |  2  |          b_i = operations of thread i x ns each / span, at most 1
//     thread 0  |.. . |     |...  |   -->    span 0: b_0 (1 - (1 - b_1)) + b_1 (1 - (1 - b_0)), over 2
//     thread 1  | . . |  .  |     |          span 1: one thread, 0;  span 2: 0;  span 3 does not count
//
// docs/profile.md has the formulas. Operations come in the order of the journal; one that is said to be
// earlier than the span that is open counts in it.
//
// Cost: a slot and a count an operation, and the threads of a group once a span in which it has any.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "journal/events/flat_table.hpp"

namespace mallard::profile {

// Which threads take part in which group, each pair with a slot, numbered from 0.
//
//     (group 0, thread 0) -> 0     (group 4, thread 0) -> 1     (group 0, thread 2) -> 2 ...
//
// Cost: one comparison where the thread is the one that entered the group last, else a look-up; 20 bytes a
// group, and an entry of a table for each thread of a group but the first.
class participants {
 public:
  explicit participants(std::uint32_t groups) : groups_(groups) {}

  // The slot of a thread in a group.
  std::uint32_t slot(std::uint32_t group, std::uint32_t thread) {
    state& in = groups_[group];
    if (in.threads == 0 || in.last.thread != thread)
      in.last = {.thread = thread, .slot = find(in, group, thread)};
    return in.last.slot;
  }

  // How many threads have a slot in the group.
  [[nodiscard]] std::uint32_t threads(std::uint32_t group) const noexcept { return groups_[group].threads; }

 private:
  struct participant {
    std::uint32_t thread = 0;
    std::uint32_t slot = 0;
  };
  struct state {
    std::uint32_t threads = 0;
    participant first{};  // to come, and often the only one
    participant last{};
  };

  std::uint32_t find(state& in, std::uint32_t group, std::uint32_t thread) {
    if (in.threads == 0) {
      in.first = {.thread = thread, .slot = take(in)};
      return in.first.slot;
    }
    if (in.first.thread == thread) return in.first.slot;
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

class contention_meter {
 public:
  static constexpr std::uint64_t span_ns = 1'000'000;

  // `ns_per_operation` has the mean of each group. Empty: threads are counted, and all else is 0.
  contention_meter(std::uint32_t groups, std::vector<double> ns_per_operation);

  // A thread allocates or frees in a group, at `time` ns.
  void operation(std::uint32_t group, std::uint32_t thread, std::uint64_t time) {
    const std::uint32_t slot = participants_.slot(group, thread);
    if (ns_per_operation_.empty()) return;
    if (time >= span_end_) open_span(time);
    if (slot >= slots_.size()) slots_.resize(slot + std::size_t{1});
    if (slots_[slot].operations++ == 0) take_part(group, slot);
  }

  // Ends the span that is open.
  void finish() { close_span(); }

  struct result {
    std::uint64_t active_threads = 0;
    double contention = 0;
    double overlaps = 0;
  };
  [[nodiscard]] result of(std::uint32_t group) const noexcept;

 private:
  static constexpr std::uint32_t none = UINT32_MAX;

  struct count {
    std::uint32_t operations = 0;  // in the open span
    std::uint32_t next = none;     // that has any, of the same group
  };
  struct state {
    std::uint32_t first = none;  // slot with an operation in the open span
    std::uint32_t spans = 0;     // with an operation
    double contention = 0;       // of the spans together
    double overlaps = 0;
  };

  void open_span(std::uint64_t time);
  void close_span();
  void take_part(std::uint32_t group, std::uint32_t slot);
  void add_span(std::uint32_t group);
  void add_meetings(state& in, double ns_per_operation);

  std::vector<double> ns_per_operation_;  // by group
  participants participants_;
  std::vector<state> groups_;
  std::vector<count> slots_;
  std::vector<std::uint32_t> active_;  // groups with an operation in the open span
  std::vector<double> busy_;           // b of the threads of one group
  std::vector<double> others_idle_;    // for each of them, the chance that none behind it is busy
  std::uint64_t span_end_ = 0;
};

}  // namespace mallard::profile
