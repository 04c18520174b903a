#include "replay/trace/trace_builder.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <span>

#include "journal/events/event_batch.hpp"
#include "mallard/core/attributes.hpp"
#include "replay/trace/places.hpp"

namespace mallard::replay {

using journal::event_kind;

namespace {

// Events between asking for a cache line and using it: the main memory's latency at some 20 ns an event.
constexpr std::size_t ahead = 8;

}  // namespace

void trace_builder::add(const journal::event_batch& batch, double ticks_per_second) {
  clock_ = journal::tick_scale(1e9 / ticks_per_second);
  event_ = batch.number_of_first(event_);
  for (std::size_t i = 0; i < batch.count(); ++i, ++event_) {
    if (routes_ != nullptr && routes_->leaves_out(event_)) {
      ++facts_.left_out;
      continue;
    }
    if (i + 2 * ahead < batch.count()) addresses_.expect(batch.address[i + 2 * ahead]);
    if (i + ahead < batch.count()) expect_block(batch.address[i + ahead]);
    thread_ = static_cast<std::uint16_t>(batch.thread[i]);
    time_ = batch.time[i];
    const std::size_t before = ops_.size();
    add_event(batch, i);
    if (with_threads_ && ops_.size() != before) threads_.note(batch.thread[i], before, batch.time[i]);
  }
  facts_.events += batch.count();
  for (const std::uint32_t thread : batch.thread)
    facts_.threads = std::max<std::uint64_t>(facts_.threads, std::uint64_t{thread} + 1);
}

// Asks for the line of the block at `address`, whose table entry has been asked for before.
void trace_builder::expect_block(std::uint64_t address) const {
  const std::uint32_t slot = addresses_.guess(address).slot;
  if (slot < blocks_.size()) __builtin_prefetch(&blocks_[slot], 1);
}

void trace_builder::add_event(const journal::event_batch& batch, std::size_t i) {
  const event_kind kind = batch.kind[i];
  if (routes_ != nullptr)
    heap_ = routes_->heap_of(event_, journal::is_allocation(kind) || journal::is_reallocation(kind));
  if (journal::is_free(kind)) return deallocate(batch.address[i]);
  if (journal::is_allocation(kind))
    return allocate(batch.address[i], batch.size[i], batch.alignment[i], kind == event_kind::calloc);
  if (journal::is_reallocation(kind))
    return reallocate(batch.old_address[i], batch.address[i], batch.size[i]);
  if (journal::is_region(kind)) ++facts_.region_events;
}

// The next op is of the event being read.
MALLARD_INLINE void trace_builder::mark_event() {
  if (event_ != next_event_) [[unlikely]]
    marks_.push_back({ops_.size(), event_});
  next_event_ = event_ + 1;
}

// Field by field: an op put together elsewhere and copied whole would wait for its parts.
MALLARD_INLINE void trace_builder::emit(std::uint64_t size, std::uint32_t slot, op_kind kind,
                                        std::uint8_t align_log2, std::uint16_t heap) {
  if (kind != op_kind::resized_from) mark_event();
  op* const next = ops_.add();
  next->size = size;
  next->slot = slot;
  next->kind = kind;
  next->align_log2 = align_log2;
  next->thread = thread_;
  if (routes_ != nullptr) heaps_.push_back(heap);
}

void trace_builder::allocate(std::uint64_t address, std::uint64_t size, std::uint64_t alignment,
                             bool zeroed) {
  if (address == 0) {
    ++facts_.failed;
    return;
  }
  if (size > journal::largest_possible || alignment > journal::largest_possible) {
    ++facts_.impossible;
    return;
  }
  journal::owed_frees owed;
  if (auto* old = addresses_.find(address)) {
    end_before_reuse(address, old->value);
    owed = old->value.owed;
    addresses_.erase(old);
  }

  const std::uint8_t natural = natural_align_log2(size);
  const auto asked = static_cast<std::uint8_t>(alignment == 0 ? 0 : std::bit_width(alignment) - 1);
  const bool strict = asked > std::countr_zero(default_align) || (asked > natural && size < default_align);
  const std::uint8_t align = std::max(natural, asked);

  facts_.max_align = std::max<std::uint64_t>(facts_.max_align, std::uint64_t{1} << align);
  const std::uint32_t slot = take_slot();
  addresses_.insert(address, {slot, owed});
  blocks_[slot] = {size, thread_, align, true, heap_};
  ++facts_.allocations;
  facts_.callocs += zeroed;
  ++live_objects_;
  const op_kind plain = zeroed ? op_kind::allocate_zeroed : op_kind::allocate;
  emit(size, slot, strict ? op_kind::allocate_aligned : plain, align, heap_);
  count_live(size, 0);
}

void trace_builder::deallocate(std::uint64_t address) {
  auto* found = addresses_.find(address);
  if (found == nullptr) {
    ++facts_.unmatched_frees;
  } else if (!is_owed_free(address, found->value)) {
    end_block(found->value.slot);
    addresses_.erase(found);
  }
}

void trace_builder::reallocate(std::uint64_t old_address, std::uint64_t address, std::uint64_t size) {
  if (old_address == 0) return allocate(address, size, 0, false);
  if (address == 0) {
    if (size == 0) return deallocate(old_address);
    ++facts_.failed;
    return;
  }
  if (size > journal::largest_possible) {
    ++facts_.impossible;
    return;
  }
  auto* old = addresses_.find(old_address);
  if (old == nullptr) {
    ++facts_.unmatched_frees;
    return allocate(address, size, 0, false);
  }
  if (is_owed_free(old_address, old->value))
    return allocate(address, size, 0, false);  // the block meant is the one that had the address before
  const std::uint32_t slot = old->value.slot;
  if (address != old_address) {
    addresses_.erase(old);
    journal::owed_frees owed;
    if (auto* other = addresses_.find(address)) {
      end_before_reuse(address, other->value);
      owed = other->value.owed;
      addresses_.erase(other);
    }
    addresses_.insert(address, {slot, owed});
  }
  live_block& block = blocks_[slot];
  const live_block before = block;
  block.size = size;
  block.align_log2 = natural_align_log2(size);
  block.heap = heap_;
  facts_.max_align = std::max<std::uint64_t>(facts_.max_align, std::uint64_t{1} << block.align_log2);
  ++facts_.reallocations;
  emit(size, slot, op_kind::reallocate, block.align_log2, block.heap);
  emit(before.size, slot, op_kind::resized_from, before.align_log2, before.heap);
  count_live(size, before.size);
}

// The block at this address must have ended, though its free comes later.
void trace_builder::end_before_reuse(std::uint64_t address, known_address& old) {
  ++facts_.inversions;
  old.owed.owe(clock_.ns(time_));
  owed_ops_.emplace(address, ops_.size());
  end_block(old.slot);
}

// Whether this free is of a block that has ended before: only now is it known whose free that was.
bool trace_builder::is_owed_free(std::uint64_t address, known_address& found) {
  if (!found.owed.any()) return false;
  if (!found.owed.pay(clock_.ns(time_))) {
    owed_ops_.erase(address);
    return false;
  }
  const auto [first, last] = owed_ops_.equal_range(address);
  const auto owed = std::min_element(first, last, [](auto& a, auto& b) { return a.second < b.second; });
  ops_.ops()[owed->second].thread = thread_;
  if (with_threads_) threads_.note_late(thread_, owed->second);
  owed_ops_.erase(owed);
  return true;
}

void trace_builder::end_block(std::uint32_t slot) {
  live_block& block = blocks_[slot];
  ++facts_.deallocations;
  emit(block.size, slot, op_kind::deallocate, block.align_log2, block.heap);
  live_bytes_ -= block.size;
  --live_objects_;
  block.alive = false;
  free_slots_.push_back(slot);
}

std::uint32_t trace_builder::take_slot() {
  if (free_slots_.empty()) {
    if (blocks_.size() > std::numeric_limits<std::uint32_t>::max())
      throw journal::error("more than 2^32 blocks alive at once");
    blocks_.emplace_back();
    return static_cast<std::uint32_t>(blocks_.size() - 1);
  }
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

void trace_builder::count_live(std::uint64_t more, std::uint64_t less) {
  facts_.total_bytes += more;
  live_bytes_ += more - less;
  facts_.max_live_objects = std::max(facts_.max_live_objects, live_objects_);
  if (live_bytes_ > facts_.max_live_bytes) {
    facts_.max_live_bytes = live_bytes_;
    facts_.max_live_op = ops_.size() - 1;
  }
}

void trace_builder::free_the_rest() {
  std::vector<std::uint32_t> rest;
  std::vector<std::uint64_t> allocated_at(blocks_.size());
  const std::span<const op> all = ops_.ops();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (is_allocation(all[i].kind)) allocated_at[all[i].slot] = i;
  for (std::uint32_t slot = 0; slot < blocks_.size(); ++slot)
    if (blocks_[slot].alive) rest.push_back(slot);
  std::ranges::sort(rest, {}, [&allocated_at](std::uint32_t slot) { return allocated_at[slot]; });
  facts_.never_freed = rest.size();
  for (const std::uint32_t slot : rest) {
    thread_ = blocks_[slot].thread;
    end_block(slot);
    ++event_;
  }
}

// What each heap of the part is asked for.
void trace_builder::find_part(std::uint64_t event_numbers) {
  routes_->expect_events(event_numbers);
  const std::span<op> all = ops_.ops();
  demands_.resize(routes_->heaps());
  facts_.part.heaps = demands_.size();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const op_kind kind = all[i].kind;
    const std::uint16_t heap = heaps_[i];
    const bool resizes = kind == op_kind::reallocate;
    facts_.part.events += kind != op_kind::resized_from && (heap != 0 || (resizes && heaps_[i + 1] != 0));
    if (!with_threads_) all[i].set_heap(heap);
    if (heap == 0 || !(is_allocation(kind) || resizes)) continue;
    ++facts_.part.blocks;
    heap_demand& demand = demands_[heap - 1];
    demand.largest = std::max(demand.largest, all[i].size);
    demand.align = std::max<std::uint64_t>(demand.align, all[i].align());
  }
  if (facts_.part.blocks == 0) routes_->refuse_as_empty();
}

trace trace_builder::finish() {
  facts_.recorded_ops = ops_.size();
  const std::uint64_t event_numbers = event_;
  free_the_rest();
  facts_.slots = blocks_.size();
  if (routes_ != nullptr) find_part(event_numbers);
  return ops_.finish(facts_, marks_, demands_, [this](std::span<std::uint64_t> places) {
    return assign_places(ops_.ops(), facts_.slots, places);
  });
}

trace build_trace(journal::event_source& source, const part_routes* routes) {
  trace_builder builder(false, routes);
  journal::event_batch batch;
  while (source.next(batch)) builder.add(batch, source.about().ticks_per_second);
  return builder.finish();
}

}  // namespace mallard::replay
