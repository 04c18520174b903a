#include "profile/contention_meter.hpp"

#include <algorithm>

namespace mallard::profile {

contention_meter::contention_meter(std::uint32_t groups, std::vector<double> ns_per_operation)
    : ns_per_operation_(std::move(ns_per_operation)),
      participants_(groups),
      groups_(ns_per_operation_.empty() ? 0 : groups) {}

contention_meter::result contention_meter::of(std::uint32_t group) const noexcept {
  result found{.active_threads = participants_.threads(group)};
  if (groups_.empty()) return found;
  const state& in = groups_[group];
  if (in.spans != 0) found.contention = in.contention / in.spans;
  found.overlaps = in.overlaps;
  return found;
}

void contention_meter::open_span(std::uint64_t time) {
  close_span();
  const std::uint64_t begin = time - time % span_ns;
  span_end_ = begin > UINT64_MAX - span_ns ? UINT64_MAX : begin + span_ns;
}

void contention_meter::close_span() {
  for (const std::uint32_t group : active_) add_span(group);
  active_.clear();
}

void contention_meter::take_part(std::uint32_t group, std::uint32_t slot) {
  state& in = groups_[group];
  if (in.first == none) active_.push_back(group);
  slots_[slot].next = in.first;
  in.first = slot;
}

void contention_meter::add_span(std::uint32_t group) {
  state& in = groups_[group];
  const double share_of_one = ns_per_operation_[group] / static_cast<double>(span_ns);
  busy_.clear();
  for (std::uint32_t at = in.first; at != none;) {
    count& taken = slots_[at];
    busy_.push_back(std::min(1.0, taken.operations * share_of_one));
    taken.operations = 0;
    at = std::exchange(taken.next, none);
  }
  in.first = none;
  ++in.spans;
  if (busy_.size() > 1) add_meetings(in, ns_per_operation_[group]);
}

void contention_meter::add_meetings(state& in, double ns_per_operation) {
  const std::size_t threads = busy_.size();
  others_idle_.resize(threads);
  double idle_behind = 1;
  for (std::size_t i = threads; i-- > 0;) {
    others_idle_[i] = idle_behind;
    idle_behind *= 1 - busy_[i];
  }
  double idle_before = 1;
  double busy_before = 0;
  double meets = 0;
  double pairs = 0;
  for (std::size_t i = 0; i < threads; ++i) {
    meets += busy_[i] * (1 - idle_before * others_idle_[i]);
    pairs += busy_[i] * busy_before;
    idle_before *= 1 - busy_[i];
    busy_before += busy_[i];
  }
  in.contention += meets / static_cast<double>(threads);
  if (ns_per_operation > 0) in.overlaps += pairs * static_cast<double>(span_ns) / ns_per_operation;
}

}  // namespace mallard::profile
