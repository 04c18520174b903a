// naive_pairing: the rules of pairing, each in the plainest way and at any cost, to hold pairing against.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "journal/events/event_batch.hpp"
#include "profile/object_log.hpp"

namespace mallard::profile {

class naive_pairing {
 public:
  bool frees_come_late = true;  // false breaks a rule, for the control
  bool youngest_first = true;   // so does this

  pairs pair(std::span<const journal::event> events) {
    for (const journal::event& e : events) {
      time_ = std::max(time_, e.time);
      ++result_.counts.events;
      ++result_.counts.by_kind[static_cast<std::size_t>(e.kind)];
      take(e);
      ++event_;
    }
    for (object& o : alive_) result_.ends.push_back(o);  // in the order of allocations
    for (object& o : result_.ends) o.between = between(o);
    result_.time = time_;
    return std::move(result_);
  }

 private:
  using kinds = journal::event_kind;

  struct living_region {
    std::uint64_t id;
    std::uint64_t parent;  // id; 0: a root
    std::uint32_t number;
  };

  void take(const journal::event& e) {
    if (is_allocation(e.kind)) return allocate(e);
    if (is_free(e.kind)) return free(e, e.address);
    if (is_reallocation(e.kind)) return reallocate(e);
    if (e.region == 0) return;
    const auto known = std::ranges::find(regions_, e.region, &living_region::id);
    const bool lives = known != regions_.end();
    if (e.kind == kinds::region_create) {
      const bool parent_lives = std::ranges::find(regions_, e.parent, &living_region::id) != regions_.end();
      const std::uint64_t parent = parent_lives ? e.parent : 0;
      if (!lives) return begin_region(e.region, parent, event_, e.context);
      if (inside(e.region).contains(parent)) {
        ++result_.counts.circular_moves;
        return;
      }
      known->parent = parent;
      result_.regions[known->number - 1].parent = number_of(parent);
    } else if (e.kind == kinds::region_allocate && !succeeds(e)) {
      if (e.address != 0) ++result_.counts.impossible_in_regions;
    } else if (e.kind == kinds::region_allocate) {
      if (!lives) begin_region(e.region, 0, no_event, 0);
      const std::uint32_t number = number_of(e.region);
      if (const auto old = find(e.address, number); old != alive_.end())
        end(old, {.kind = kinds::region_free, .thread = old->thread});
      begin(e, number, no_event, origin::fresh);
    } else if (e.kind == kinds::region_free && lives) {
      if (const auto old = find(e.address, known->number); old != alive_.end()) end(old, e);
    } else if ((e.kind == kinds::region_clear || e.kind == kinds::region_destroy) && lives) {
      clear(e);
    }
  }

  static bool succeeds(const journal::event& e) {
    return e.address != 0 && e.size <= journal::largest_possible;
  }

  void allocate(const journal::event& e) {
    if (succeeds(e))
      begin_on_heap(e, no_event, origin::fresh);
    else
      ++result_.counts.failed;
  }

  void free(const journal::event& e, std::uint64_t address) {
    const auto old = find(address, 0);
    if (owes(address))
      --owed_[address];
    else if (old == alive_.end())
      ++result_.counts.unmatched_frees;
    else
      end(old, e);
  }

  void reallocate(const journal::event& e) {
    if (e.old_address == 0) return allocate(e);
    if (e.address == 0 && e.size == 0) {
      journal::event meant = e;
      meant.kind = kinds::free;
      return free(meant, e.old_address);
    }
    if (!succeeds(e)) {
      ++result_.counts.failed;
      return;
    }
    const auto old = find(e.old_address, 0);
    if (owes(e.old_address) || old == alive_.end()) {
      free(e, e.old_address);
      return begin_on_heap(e, no_event, origin::fresh);
    }
    const std::uint64_t previous = old->allocation;
    journal::event untimed = e;
    untimed.duration = 0;
    end(old, untimed);
    begin_on_heap(e, previous, e.address == e.old_address ? origin::in_place : origin::moved);
  }

  // What is owed for more than a second, in units of 2^26 ns, was never recorded.
  bool owes(std::uint64_t address) {
    if (time_ / (1U << 26) - owed_since_[address] / (1U << 26) > 15) owed_[address] = 0;
    return owed_[address] > 0;
  }

  void begin_on_heap(const journal::event& e, std::uint64_t previous, origin from) {
    if (const auto old = find(e.address, 0); old != alive_.end()) {
      ++result_.counts.inversions;
      if (frees_come_late) {
        ++owed_[e.address];
        owed_since_[e.address] = time_;
      }
      end(old, {.kind = kinds::deallocate, .thread = old->thread});
    }
    begin(e, 0, previous, from);
  }

  // The region and those inside it, however deep.
  std::set<std::uint64_t> inside(std::uint64_t region) const {
    std::set<std::uint64_t> ids{region};
    for (std::size_t before = 0; before != ids.size();) {
      before = ids.size();
      for (const living_region& r : regions_)
        if (r.parent != 0 && ids.contains(r.parent)) ids.insert(r.id);
    }
    return ids;
  }

  // Everything in the regions inside it; and those regions.
  void clear(const journal::event& e) {
    std::set<std::uint64_t> ids = inside(e.region);
    std::set<std::uint32_t> numbers;
    for (const std::uint64_t id : ids) numbers.insert(number_of(id));
    std::vector<std::uint64_t> allocations;
    for (const object& o : alive_)
      if (numbers.contains(o.region)) allocations.push_back(o.allocation);
    if (youngest_first) std::ranges::reverse(allocations);
    journal::event untimed = e;
    untimed.duration = 0;
    for (const std::uint64_t allocation : allocations)
      end(std::ranges::find(alive_, allocation, &object::allocation), untimed);
    if (e.kind == kinds::region_clear) {
      ++result_.regions[number_of(e.region) - 1].clears;
      ids.erase(e.region);
    }
    for (const std::uint64_t id : ids) result_.regions[number_of(id) - 1].ended = event_;
    std::erase_if(regions_, [&](const living_region& r) { return ids.contains(r.id); });
  }

  void begin_region(std::uint64_t id, std::uint64_t parent, std::uint64_t created, std::uint32_t context) {
    result_.regions.push_back({.created = created, .parent = number_of(parent), .context = context});
    regions_.push_back(
        {.id = id, .parent = parent, .number = static_cast<std::uint32_t>(result_.regions.size())});
  }

  std::uint32_t number_of(std::uint64_t id) {
    const auto found = std::ranges::find(regions_, id, &living_region::id);
    return found == regions_.end() ? 0 : found->number;
  }

  std::vector<object>::iterator find(std::uint64_t address, std::uint32_t region) {
    return std::ranges::find_if(alive_,
                                [&](const object& o) { return o.address == address && o.region == region; });
  }

  void begin(const journal::event& e, std::uint32_t region, std::uint64_t previous, origin from) {
    const object o = {.allocation = event_,
                      .previous = previous,
                      .allocation_time = time_,
                      .address = e.address,
                      .size = e.size,
                      .alignment = e.alignment,
                      .allocation_ns = static_cast<float>(e.duration),
                      .context = e.context,
                      .thread = e.thread,
                      .free_thread = e.thread,
                      .region = region,
                      .kind = e.kind,
                      .origin = from};
    alive_.push_back(o);
    result_.allocations.push_back(o);
    if (region == 0) return;
    region_instance& row = result_.regions[region - 1];
    ++row.objects;
    row.bytes += o.size;
    std::uint64_t live = 0;
    for (const object& other : alive_) live += other.region == region ? other.size : 0;
    row.max_live_bytes = std::max(row.max_live_bytes, live);
  }

  void end(std::vector<object>::iterator old, const journal::event& by) {
    object o = *old;
    o.free = event_;
    o.free_time = time_;
    o.free_ns = static_cast<float>(by.duration);
    o.free_context = by.context;
    o.free_thread = by.thread;
    o.free_kind = by.kind;
    alive_.erase(old);
    result_.ends.push_back(o);
  }

  std::uint64_t between(const object& o) const {
    return static_cast<std::uint64_t>(std::ranges::count_if(result_.allocations, [&](const object& other) {
      return other.thread == o.thread && (other.region == 0) == (o.region == 0) &&
             other.allocation > o.allocation && other.allocation < o.free;
    }));
  }

  pairs result_;
  std::vector<object> alive_;  // oldest first
  std::vector<living_region> regions_;
  std::map<std::uint64_t, std::uint64_t> owed_;  // late frees by address
  std::map<std::uint64_t, std::uint64_t> owed_since_;
  std::uint64_t event_ = 0;
  std::uint64_t time_ = 0;
};

}  // namespace mallard::profile
