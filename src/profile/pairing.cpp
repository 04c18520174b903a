#include "profile/pairing.hpp"

#include <algorithm>
#include <utility>

#include "journal/events/event_batch.hpp"
#include "journal/events/flat_table.hpp"
#include "journal/events/metadata.hpp"
#include "profile/live_objects.hpp"
#include "profile/region_tree.hpp"

namespace mallard::profile {

using journal::event_kind;

namespace {

// Events between asking for a line of the cache and using it: several are on their way at any time.
constexpr std::size_t ahead = 32;

constexpr double longest_call = 1e15;  // ns

// One row of a batch, as far as every kind has it.
struct happening {
  std::uint64_t event = 0;
  std::uint64_t time = 0;
  float ns = 0;
  std::uint32_t thread = 0;
  std::uint32_t context = 0;
  event_kind kind = event_kind::none;
};

// What is asked for, and where it comes from.
struct request {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t alignment = 0;
  std::uint64_t previous = no_event;
  profile::origin origin = profile::origin::fresh;
  std::uint32_t region = 0;
};

struct known_address {
  std::uint32_t slot = 0;
  journal::owed_frees owed{};
};

// Allocations so far of one thread.
struct allocation_count {
  std::uint64_t heap = 0;
  std::uint64_t regions = 0;

  [[nodiscard]] std::uint64_t& of(std::uint32_t region) noexcept { return region == 0 ? heap : regions; }
};

}  // namespace

struct pairing::state {
  state(std::vector<watcher*> watchers, double rate)
      : watchers_(std::move(watchers)), ns_per_tick_(rate), clock_(rate) {}

  void add(const journal::event_batch& batch);
  void pair(const journal::event_batch& batch, std::size_t row);
  bool finish(std::size_t at_most);

 private:
  void allocate(const request& wanted);
  void deallocate(std::uint64_t address);
  void reallocate(std::uint64_t old_address, const request& wanted);
  void create_region(std::uint64_t id, std::uint64_t parent);
  void allocate_in_region(std::uint64_t id, request wanted);
  void free_in_region(std::uint64_t id, std::uint64_t address);
  void clear_region(std::uint32_t place);

  [[nodiscard]] float took(std::uint64_t ticks) const noexcept;
  void begin_at(const request& wanted);
  std::uint32_t begin(const request& wanted);
  void end(std::uint32_t slot, const happening& by);
  [[nodiscard]] happening unknown_end(event_kind kind, std::uint32_t slot) const;
  [[nodiscard]] std::uint64_t between(std::uint32_t slot, const object& o);

  template <class Call>
  void emit(Call what) {
    for (watcher* const w : watchers_) what(*w);
  }

  std::vector<watcher*> watchers_;
  double ns_per_tick_;
  journal::tick_scale clock_;
  std::uint64_t next_event_ = 0;
  happening now_;
  live_objects objects_;
  journal::flat_table<std::uint64_t, known_address> addresses_;  // of the malloc family
  region_tree regions_;
  std::vector<allocation_count> allocations_;  // by thread
  std::vector<std::uint32_t> to_end_;          // slots, of a region that is cleared
  std::vector<std::uint32_t> leaked_;          // slots, youngest first
  bool finishing_ = false;

 public:
  pairing_counts counts;
  [[nodiscard]] std::uint64_t time() const noexcept { return now_.time; }
};

pairing::pairing(std::vector<watcher*> watchers, double ns_per_tick)
    : state_(std::make_unique<state>(std::move(watchers), ns_per_tick)) {}
pairing::~pairing() = default;

void pairing::add(const journal::event_batch& batch) { state_->add(batch); }
bool pairing::finish(std::size_t at_most) { return state_->finish(at_most); }
const pairing_counts& pairing::counts() const noexcept { return state_->counts; }
std::uint64_t pairing::time() const noexcept { return state_->time(); }

void pairing::state::add(const journal::event_batch& batch) {
  const std::size_t count = batch.count();
  next_event_ = batch.number_of_first(next_event_);
  counts.events += count;
  for (std::size_t row = 0; row < count; ++row) {
    if (row + 2 * ahead < count) addresses_.expect(batch.address[row + 2 * ahead]);
    if (row + ahead < count) objects_.expect(addresses_.guess(batch.address[row + ahead]).slot);
    pair(batch, row);
  }
  counts.event_numbers = next_event_;
}

void pairing::state::pair(const journal::event_batch& batch, std::size_t row) {
  const event_kind kind = batch.kind[row];
  now_ = {.event = next_event_++,
          .time = std::max(now_.time, clock_.ns(batch.time[row])),
          .ns = took(batch.duration[row]),
          .thread = batch.thread[row],
          .context = batch.context[row],
          .kind = kind};
  ++counts.by_kind[static_cast<std::size_t>(kind)];
  if (now_.thread >= allocations_.size()) allocations_.resize(std::size_t{now_.thread} + 1);
  if (journal::is_free(kind)) return deallocate(batch.address[row]);
  const request wanted = {
      .address = batch.address[row], .size = batch.size[row], .alignment = batch.alignment[row]};
  if (journal::is_allocation(kind)) return allocate(wanted);
  if (journal::is_reallocation(kind)) return reallocate(batch.old_address[row], wanted);
  const std::uint64_t region = batch.region[row];
  if (!journal::is_region(kind) || region == 0) return;
  if (kind == event_kind::region_create) return create_region(region, batch.parent[row]);
  if (kind == event_kind::region_allocate) return allocate_in_region(region, wanted);
  if (kind == event_kind::region_free) return free_in_region(region, wanted.address);
  const std::uint32_t place = regions_.find(region);
  if (place == region_tree::none) return;
  clear_region(place);
  const std::uint32_t number = regions_.number(place);
  if (kind == event_kind::region_clear)
    return emit([=, this](watcher& w) { w.region_cleared(number, now_.event); });
  regions_.end(place);
  emit([=, this](watcher& w) { w.region_ended(number, now_.event); });
}

float pairing::state::took(std::uint64_t ticks) const noexcept {
  return ticks == 0 ? 0
                    : static_cast<float>(std::min(static_cast<double>(ticks) * ns_per_tick_, longest_call));
}

void pairing::state::allocate(const request& wanted) {
  if (wanted.address == 0 || wanted.size > journal::largest_possible) {
    ++counts.failed;
    return;
  }
  begin_at(wanted);
}

void pairing::state::deallocate(std::uint64_t address) {
  auto* const found = addresses_.find(address);
  if (found == nullptr) {
    ++counts.unmatched_frees;
  } else if (!found->value.owed.pay(now_.time)) {
    end(found->value.slot, now_);
    addresses_.erase(found);
  }
}

void pairing::state::reallocate(std::uint64_t old_address, const request& wanted) {
  if (old_address == 0) return allocate(wanted);
  if (wanted.address == 0 && wanted.size == 0) {
    now_.kind = event_kind::free;  // by meaning: nothing is begun
    return deallocate(old_address);
  }
  if (wanted.address == 0 || wanted.size > journal::largest_possible) {
    ++counts.failed;
    return;
  }
  auto* const old = addresses_.find(old_address);
  if (old == nullptr) {
    ++counts.unmatched_frees;
    return begin_at(wanted);
  }
  if (old->value.owed.pay(now_.time))
    return begin_at(wanted);  // the block meant is the one that had the address before
  request next = wanted;
  next.previous = objects_.allocation(old->value.slot);
  next.origin = wanted.address == old_address ? origin::in_place : origin::moved;
  happening by_it = now_;
  by_it.ns = 0;  // the call is counted at the allocation
  end(old->value.slot, by_it);
  if (next.origin == origin::in_place) {
    old->value.slot = begin(next);
  } else {
    addresses_.erase(old);
    begin_at(next);
  }
}

// An object of the malloc family begins, whatever is at its address.
void pairing::state::begin_at(const request& wanted) {
  if (auto* const old = addresses_.find(wanted.address)) {
    ++counts.inversions;
    old->value.owed.owe(now_.time);
    end(old->value.slot, unknown_end(event_kind::deallocate, old->value.slot));
    old->value.slot = begin(wanted);
  } else {
    addresses_.insert(wanted.address, {.slot = begin(wanted)});
  }
}

void pairing::state::create_region(std::uint64_t id, std::uint64_t parent) {
  const std::uint32_t outer = regions_.find(parent);
  const std::uint32_t outer_number = outer == region_tree::none ? 0 : regions_.number(outer);
  if (const std::uint32_t place = regions_.find(id); place != region_tree::none) {
    if (!regions_.move(place, outer)) {
      ++counts.circular_moves;
      return;
    }
    emit([&](watcher& w) { w.region_moved(regions_.number(place), outer_number); });
    return;
  }
  const std::uint32_t number = regions_.number(regions_.begin(id, outer));
  emit([=, this](watcher& w) { w.region_began(number, outer_number, now_.event, now_.context); });
}

void pairing::state::allocate_in_region(std::uint64_t id, request wanted) {
  if (wanted.address == 0) return;
  if (wanted.size > journal::largest_possible) {
    ++counts.impossible_in_regions;
    return;
  }
  std::uint32_t place = regions_.find(id);
  if (place == region_tree::none) {
    place = regions_.begin(id, region_tree::none);
    emit([&](watcher& w) { w.region_began(regions_.number(place), 0, no_event, 0); });
  }
  if (const std::uint32_t old = regions_.find_block(place, wanted.address); old != region_tree::none) {
    regions_.remove_block(place, old);
    end(old, unknown_end(event_kind::region_free, old));
  }
  wanted.region = regions_.number(place);
  regions_.add_block(place, wanted.address, begin(wanted));
}

void pairing::state::free_in_region(std::uint64_t id, std::uint64_t address) {
  const std::uint32_t place = regions_.find(id);
  if (place == region_tree::none) return;
  const std::uint32_t slot = regions_.find_block(place, address);
  if (slot == region_tree::none) return;
  regions_.remove_block(place, slot);
  end(slot, now_);
}

// Ends all that is in it, youngest first.
void pairing::state::clear_region(std::uint32_t place) {
  const region_tree::contents& gone = regions_.clear(place);
  to_end_ = gone.slots;
  std::ranges::sort(to_end_, std::ranges::greater(),
                    [this](std::uint32_t slot) { return objects_.allocation(slot); });
  happening by_it = now_;
  by_it.ns = 0;  // one call for all of them
  for (const std::uint32_t slot : to_end_) end(slot, by_it);
  for (const std::uint32_t number : gone.numbers)
    emit([=, this](watcher& w) { w.region_ended(number, now_.event); });
}

std::uint32_t pairing::state::begin(const request& wanted) {
  const object o = {.allocation = now_.event,
                    .previous = wanted.previous,
                    .allocation_time = now_.time,
                    .address = wanted.address,
                    .size = wanted.size,
                    .alignment = wanted.alignment,
                    .allocation_ns = now_.ns,
                    .context = now_.context,
                    .thread = now_.thread,
                    .free_thread = now_.thread,
                    .region = wanted.region,
                    .kind = now_.kind,
                    .origin = wanted.origin};
  const std::uint32_t slot = objects_.add(o, ++allocations_[now_.thread].of(wanted.region));
  emit([&](watcher& w) { w.allocated(slot, o); });
  return slot;
}

void pairing::state::end(std::uint32_t slot, const happening& by) {
  object o = objects_[slot];
  o.free = by.event;
  o.free_time = by.time;
  o.between = between(slot, o);
  o.free_ns = by.ns;
  o.free_context = by.context;
  o.free_thread = by.thread;
  o.free_kind = by.kind;
  objects_.remove(slot);
  emit([&](watcher& w) { w.freed(slot, o); });
}

// Allocations so far, less those up to the object's own.
std::uint64_t pairing::state::between(std::uint32_t slot, const object& o) {
  return allocations_[o.thread].of(o.region) - objects_.note(slot);
}

// Of an object whose end is known by the next one's beginning only.
happening pairing::state::unknown_end(event_kind kind, std::uint32_t slot) const {
  return {.event = now_.event, .time = now_.time, .thread = objects_.thread(slot), .kind = kind};
}

bool pairing::state::finish(std::size_t at_most) {
  if (!std::exchange(finishing_, true)) {
    for (std::size_t slot = 0; slot < objects_.slots(); ++slot)
      if (objects_.alive(static_cast<std::uint32_t>(slot)))
        leaked_.push_back(static_cast<std::uint32_t>(slot));
    std::ranges::sort(leaked_, std::ranges::greater(),
                      [this](std::uint32_t slot) { return objects_.allocation(slot); });
  }
  for (; at_most != 0 && !leaked_.empty(); --at_most) {
    const std::uint32_t slot = leaked_.back();
    leaked_.pop_back();
    object o = objects_[slot];
    o.between = between(slot, o);
    emit([&](watcher& w) { w.leaked(slot, o); });
  }
  return !leaked_.empty();
}

}  // namespace mallard::profile
