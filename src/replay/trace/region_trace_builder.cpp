#include "replay/trace/region_trace_builder.hpp"

#include <algorithm>
#include <bit>
#include <span>

#include "journal/events/event_batch.hpp"

namespace mallard::replay {

using journal::event_kind;

std::uint32_t region_trace_builder::slot_stack::take() {
  if (free.empty()) {
    if (used == no_slot) throw journal::error("more than 2^32 blocks or regions alive at once");
    return used++;
  }
  const std::uint32_t slot = free.back();
  free.pop_back();
  return slot;
}

void region_trace_builder::add(const journal::event_batch& batch) {
  facts_.events += batch.count();
  facts_.region_events += static_cast<std::uint64_t>(std::ranges::count_if(batch.kind, journal::is_region));
  for (const std::uint32_t thread : batch.thread)
    facts_.threads = std::max<std::uint64_t>(facts_.threads, std::uint64_t{thread} + 1);
  pairing_.add(batch);
}

void region_trace_builder::allocated(std::uint32_t place, const profile::object& o) {
  if (o.region == 0) return;
  emit_ended();
  if (place >= blocks_.size()) blocks_.resize(std::size_t{place} + 1);
  block& b = blocks_[place];
  b = {};
  if (o.alignment > journal::largest_possible) {
    ++facts_.impossible;
    return;
  }
  b.size = o.size;
  b.slot = block_slots_.take();
  b.align_log2 = o.alignment == 0 ? region_align_log2(o.size)
                                  : static_cast<std::uint8_t>(std::bit_width(o.alignment) - 1);
  const std::uint64_t align = std::uint64_t{1} << b.align_log2;
  b.place = place_table_.take(b.size, align);
  places_.push_back(b.place.offset);
  emit({region_op_kind::allocate, of(o.region).slot, b.slot, b.size, b.align_log2});

  ++facts_.allocations;
  facts_.total_bytes += b.size;
  facts_.max_align = std::max(facts_.max_align, align);
  facts_.max_live_objects = std::max(facts_.max_live_objects, ++live_objects_);
  live_bytes_ += b.size;
  if (live_bytes_ > facts_.max_live_bytes) {
    facts_.max_live_bytes = live_bytes_;
    facts_.max_live_op = ops_.size() - 1;
  }
}

// By itself, or with the region, whose own op follows.
void region_trace_builder::freed(std::uint32_t place, const profile::object& o) {
  if (o.region == 0) return;
  emit_ended();
  const block& b = blocks_[place];
  if (b.slot == no_slot) return;
  if (o.free_kind == event_kind::region_free) {
    ++facts_.deallocations;
    emit({region_op_kind::deallocate, of(o.region).slot, b.slot, b.size, b.align_log2});
  }
  place_table_.give_back(b.place);
  block_slots_.free.push_back(b.slot);
  live_bytes_ -= b.size;
  --live_objects_;
}

void region_trace_builder::region_began(std::uint32_t /*number*/, std::uint32_t parent,
                                        std::uint64_t /*event*/, std::uint32_t /*context*/) {
  emit_ended();
  const std::uint32_t slot = region_slots_.take();
  regions_.push_back({.created = ops_.size(), .slot = slot, .parent = parent});
  ++facts_.creations;
  facts_.max_live_regions = std::max(facts_.max_live_regions, ++live_regions_);
  emit({region_op_kind::create, slot, parent == 0 ? no_region : of(parent).slot});
}

void region_trace_builder::region_moved(std::uint32_t number, std::uint32_t parent) {
  emit_ended();
  region& r = of(number);
  if (r.parent == parent || r.moved) return;
  r.moved = true;
  r.parent = 0;
  ++facts_.moved_regions;
  ops_.ops()[r.created] = {region_op_kind::create, r.slot};
}

void region_trace_builder::region_ended(std::uint32_t number, std::uint64_t event) {
  if (event != ended_by_) emit_ended();
  ended_.push_back(number);
  ended_by_ = event;
}

void region_trace_builder::region_cleared(std::uint32_t number, std::uint64_t event) {
  if (event != ended_by_) emit_ended();
  end_inner(ended_.size(), number);
  ended_.clear();
  ++facts_.clears;
  emit({region_op_kind::clear, of(number).slot});
}

// What one event has ended is known: the region that it was about comes last.
void region_trace_builder::emit_ended() {
  if (ended_.empty()) return;
  end_inner(ended_.size() - 1, 0);
  end(ended_.back(), region_op_kind::destroy);
  ended_.clear();
}

// The first `count` of them ended with another one, inner ones before those around them.
void region_trace_builder::end_inner(std::size_t count, std::uint32_t cleared) {
  while (count-- != 0) {
    const std::uint32_t number = ended_[count];
    const region& r = of(number);
    end(number, r.moved                               ? region_op_kind::destroy
                : cleared != 0 && r.parent == cleared ? region_op_kind::ended_by_clear
                                                      : region_op_kind::ended_by_destroy);
  }
}

void region_trace_builder::end(std::uint32_t number, region_op_kind how) {
  region& r = of(number);
  if (how == region_op_kind::destroy) ++facts_.destructions;
  emit({how, r.slot});
  region_slots_.free.push_back(r.slot);
  r.alive = false;
  --live_regions_;
}

// A parent's number is below its children's.
void region_trace_builder::end_the_rest() {
  facts_.never_freed = live_objects_;
  facts_.never_ended_regions = live_regions_;
  for (const bool roots : {false, true})
    for (auto number = static_cast<std::uint32_t>(regions_.size()); number != 0; --number)
      if (of(number).alive && (of(number).parent == 0) == roots)
        end(number, roots ? region_op_kind::destroy : region_op_kind::ended_by_destroy);
}

trace region_trace_builder::finish() {
  emit_ended();
  facts_.recorded_ops = ops_.size();
  end_the_rest();
  facts_.slots = block_slots_.used;
  facts_.region_slots = region_slots_.used;
  facts_.impossible += pairing_.counts().impossible_in_regions;
  facts_.circular_moves = pairing_.counts().circular_moves;
  return ops_.finish(facts_, {}, {}, [this](std::span<std::uint64_t> places) {
    std::ranges::copy(places_, places.begin());
    return place_table_.end();
  });
}

trace build_region_trace(journal::event_source& source) {
  region_trace_builder builder;
  journal::event_batch batch;
  while (source.next(batch)) builder.add(batch);
  return builder.finish();
}

}  // namespace mallard::replay
