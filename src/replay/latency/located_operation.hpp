// located_operation: a slow operation with where it stands in the program: why it may have been slow.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "replay/latency/latencies.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::replay {

struct located_operation : slow_operation {
  std::uint64_t event = 0;  // of the journal, from 0 on
  operation kind = operation::allocation;
  std::uint64_t size = 0;                 // bytes asked for, or that the freed block had
  std::optional<std::uint64_t> old_size;  // of a reallocation
  std::uint64_t live_blocks = 0;          // when the call begins
  std::uint64_t live_bytes = 0;
};

namespace detail {

// A walk over a trace: what is alive, and which event comes.
class trace_walk {
 public:
  explicit trace_walk(const trace& t) : ops_(t.ops()), marks_(t.marks()) {}

  void go_to(std::size_t index) {
    while (at_ < index) step();
    read_mark();
  }

  void describe(located_operation& found) const {
    const op& o = ops_[at_];
    found.event = event_;
    found.kind = operation_of(o.kind);
    found.size = o.size;
    if (o.kind == op_kind::reallocate) found.old_size = ops_[at_ + 1].size;
    found.live_blocks = live_blocks_;
    found.live_bytes = live_bytes_;
  }

 private:
  void read_mark() {
    if (next_mark_ < marks_.size() && marks_[next_mark_].op == at_) event_ = marks_[next_mark_++].event;
  }

  void step() {
    read_mark();
    const op& o = ops_[at_++];
    switch (o.kind) {
      case op_kind::allocate:
      case op_kind::allocate_aligned:
      case op_kind::allocate_zeroed:
        ++live_blocks_;
        live_bytes_ += o.size;
        break;
      case op_kind::deallocate:
        --live_blocks_;
        live_bytes_ -= o.size;
        break;
      case op_kind::reallocate:
        live_bytes_ += o.size;
        break;
      case op_kind::resized_from:
        live_bytes_ -= o.size;
        return;
    }
    ++event_;
  }

  std::span<const op> ops_;
  std::span<const event_mark> marks_;
  std::size_t at_ = 0;
  std::size_t next_mark_ = 0;
  std::uint64_t event_ = 0;  // of the op at at_, once its mark was read
  std::uint64_t live_blocks_ = 0;
  std::uint64_t live_bytes_ = 0;
};

}  // namespace detail

// In the order given; the trace is of blocks. One walk over its ops.
[[nodiscard]] inline std::vector<located_operation> locate(const trace& t,
                                                           std::span<const slow_operation> slow) {
  std::vector<located_operation> found;
  std::vector<located_operation*> by_op;
  found.reserve(slow.size());
  for (const slow_operation& s : slow) {
    located_operation& l = found.emplace_back();
    static_cast<slow_operation&>(l) = s;
    by_op.push_back(&l);
  }
  std::ranges::sort(by_op, {}, [](const located_operation* l) { return l->op; });
  detail::trace_walk along(t);
  for (located_operation* const l : by_op) {
    along.go_to(l->op);
    along.describe(*l);
  }
  return found;
}

}  // namespace mallard::replay
