// contention_meter: C of groups, from the rates of their threads in spans of 1 ms.
//
//     span      |  0  |  1  |  2  |          b_i = operations of thread i x ns each / span, at most 1
//     thread 0  |.. . |     |...  |   -->    span 0: b_0 (1 - (1 - b_1)) + b_1 (1 - (1 - b_0)), over 2
//     thread 1  | . . |  .  |     |          span 1: one thread, 0;  span 2: 0;  span 3 does not count
//
// docs/profile.md has the formulas. Operations come in the order of the journal; one that is said to be
// earlier than the span that is open counts in it.
//
// Cost: a seat and a count an operation, and the threads of a group once a span in which it has any.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "profile/attendance.hpp"

namespace mallard::profile {

class contention_meter {
 public:
  static constexpr std::uint64_t span_ns = 1'000'000;

  // `ns_per_operation` has the mean of each group. Empty: threads are counted, and all else is 0.
  contention_meter(std::uint32_t groups, std::vector<double> ns_per_operation);

  // A thread allocates or frees in a group, at `time` ns.
  void operation(std::uint32_t group, std::uint32_t thread, std::uint64_t time) {
    const std::uint32_t seat = attendance_.seat(group, thread);
    if (ns_per_operation_.empty()) return;
    if (time >= span_end_) open_span(time);
    if (seat >= seats_.size()) seats_.resize(seat + std::size_t{1});
    if (seats_[seat].operations++ == 0) take_part(group, seat);
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
    std::uint32_t first = none;  // seat with an operation in the open span
    std::uint32_t spans = 0;     // with an operation
    double contention = 0;       // of the spans together
    double overlaps = 0;
  };

  void open_span(std::uint64_t time);
  void close_span();
  void take_part(std::uint32_t group, std::uint32_t seat);
  void add_span(std::uint32_t group);
  void add_meetings(state& in, double ns_per_operation);

  std::vector<double> ns_per_operation_;  // by group
  attendance attendance_;
  std::vector<state> groups_;
  std::vector<count> seats_;
  std::vector<std::uint32_t> active_;  // groups with an operation in the open span
  std::vector<double> busy_;           // b of the threads of one group
  std::vector<double> others_idle_;    // for each of them, the chance that none behind it is busy
  std::uint64_t span_end_ = 0;
};

}  // namespace mallard::profile
