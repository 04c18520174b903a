// trace_writer<Op>: a trace while it is made.
//
//     add() --> [ facts | op op op ....room.... ]   the room doubles
//     finish()  [ facts | op op op | place place | mark | heap ]  --> trace
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "harness/mapping.hpp"
#include "mallard/core/attributes.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::replay {

template <class Op>
class trace_writer {
 public:
  trace_writer() : file_(trace::ops_offset) { grow(); }

  // Where the next op goes, to be written at once.
  MALLARD_INLINE Op* add() {
    if (next_ == end_) grow();
    return next_++;
  }

  [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(next_ - first()); }
  [[nodiscard]] std::span<Op> ops() const noexcept { return {first(), next_}; }

  // The trace; `assign`(places) fills in the places and returns the bytes that they lie in. The writer is
  // spent.
  template <class Assign>
  [[nodiscard]] trace finish(trace_facts facts, std::span<const event_mark> marks,
                             std::span<const heap_demand> heaps, Assign assign) {
    facts.ops = size();
    facts.marks = marks.size();
    const std::size_t places_at = trace::places_offset(facts.ops, sizeof(Op));
    const std::size_t marks_at = places_at + facts.allocations * sizeof(std::uint64_t);
    const std::size_t heaps_at = marks_at + marks.size_bytes();
    file_.resize(heaps_at + heaps.size_bytes());
    auto* const base = static_cast<std::byte*>(file_.data());
    next_ = first() + facts.ops;
    facts.places_bytes = assign(
        std::span<std::uint64_t>(reinterpret_cast<std::uint64_t*>(base + places_at), facts.allocations));
    std::ranges::copy(marks, reinterpret_cast<event_mark*>(base + marks_at));
    std::ranges::copy(heaps, reinterpret_cast<heap_demand*>(base + heaps_at));
    std::memcpy(base, &facts, sizeof facts);
    return trace(std::move(file_));
  }

 private:
  [[nodiscard]] Op* first() const noexcept {
    return reinterpret_cast<Op*>(static_cast<std::byte*>(file_.data()) + trace::ops_offset);
  }

  void grow() {
    const std::size_t used = next_ == nullptr ? 0 : size();
    const std::size_t room = std::max<std::size_t>(std::size_t{1} << 16, 2 * used);
    file_.resize(trace::places_offset(room, sizeof(Op)));
    next_ = first() + used;
    end_ = first() + room;
  }

  harness::shared_file file_;
  Op* next_ = nullptr;  // in file_
  Op* end_ = nullptr;   // of the room in file_
};

}  // namespace mallard::replay
