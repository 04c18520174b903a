#include "profile/group_statistics.hpp"

#include <algorithm>
#include <utility>

namespace mallard::profile {

group_statistics::group_statistics(statistics_plan plan)
    : grouping_(std::move(plan.groups)),
      figures_(grouping_.groups),
      live_bytes_(grouping_.groups),
      order_(grouping_.groups),
      contention_(grouping_.groups, std::move(plan.ns_per_operation)),
      compactness_(grouping_.groups, plan.events, plan.moments),
      levels_(grouping_.groups, plan.end_time, plan.buckets) {}

void group_statistics::allocated(std::uint32_t slot, const object& o) {
  if (o.region != 0) return;
  const std::uint32_t group = grouping_.of(o);
  compactness_.reached(o.allocation);
  enter({.group = group, .slot = slot});

  group_figures& in = figures_[group];
  ++in.allocations;
  in.bytes += o.size;
  const std::uint64_t live = live_bytes_[group] += o.size;
  if (live > in.max_live_bytes) {
    in.max_live_bytes = live;
    in.max_live_event = o.allocation;
  }
  in.max_live_objects = std::max(in.max_live_objects, order_.live(group));

  contention_.operation(group, o.thread, o.allocation_time);
  compactness_.allocated(slot, group, o.address, o.size);
  levels_.changed(group, o.allocation_time, live);
}

void group_statistics::freed(std::uint32_t slot, const object& o) {
  if (o.region != 0) return;
  const std::uint32_t group = grouping_.of(o);
  compactness_.reached(o.free);
  if (journal::is_reallocation(o.free_kind)) {  // one operation, which counts at the allocation that follows
    ++figures_[group].reallocated;
    left_ = {.group = group, .slot = slot};
  } else {
    order_.freed(group, slot);
    contention_.operation(group, o.free_thread, o.free_time);
  }
  compactness_.freed(slot);
  live_bytes_[group] -= o.size;
  levels_.changed(group, o.free_time, live_bytes_[group]);
}

void group_statistics::leaked(std::uint32_t, const object& o) {
  if (o.region == 0) ++figures_[grouping_.of(o)].never;
}

void group_statistics::finish() {
  contention_.finish();
  compactness_.finish();
  levels_.finish();
  for (std::uint32_t group = 0; group < grouping_.groups; ++group) {
    group_figures& in = figures_[group];
    const free_order::counts frees = order_.frees(group);
    in.together = frees.together;
    in.lifo = frees.lifo;
    in.one_by_one = frees.one_by_one;
    const contention_meter::result meetings = contention_.of(group);
    in.active_threads = meetings.active_threads;
    in.contention = meetings.contention;
    in.overlaps = meetings.overlaps;
  }
}

// Gives the object of a slot its place in the order of its group.
void group_statistics::enter(const place& at) {
  if (left_ && left_->group == at.group) {
    order_.replaced(at.group, left_->slot, at.slot);
  } else {
    if (left_) order_.left(left_->group, left_->slot);
    order_.allocated(at.group, at.slot);
  }
  left_.reset();
}

}  // namespace mallard::profile
