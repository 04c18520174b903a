#include "replay/trace/scheduler.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "harness/mapping.hpp"
#include "replay/trace/places.hpp"
#include "replay/trace/trace_builder.hpp"

namespace mallard::replay {
namespace {

constexpr std::uint32_t slots_a_line = 8;
constexpr std::uint64_t part_ahead = 100;   // of the most live bytes
constexpr std::uint64_t blocks_ahead = 16;  // of mean size, for each lane, at least
constexpr std::uint64_t most_mean = 1024;   // bytes that such a block counts for
constexpr std::size_t most_lanes = 4096;    // each knows how far each other is

// Whether the n-th of many is among a part of them, which is spread evenly.
[[nodiscard]] bool is_among(std::uint64_t n, double part) {
  return static_cast<double>((n * 0x9E3779B97F4A7C15U) >> 11) < part * 0x1p53;
}

// What ops give back, until everything that may still use it is done.
template <class Thing>
class delayed_list {
 public:
  void give_back(Thing thing, std::uint64_t order) { waiting_.push_back({thing, order}); }

  // Hands to `receive` what was given back before this order.
  template <class Receive>
  void release(std::uint64_t done_below, Receive receive) {
    for (; !waiting_.empty() && waiting_.front().order < done_below; waiting_.pop_front())
      receive(waiting_.front().thing);
  }

 private:
  struct entry {
    Thing thing;
    std::uint64_t order;
  };
  std::deque<entry> waiting_;
};

// The slots and places of one lane.
class lane_memory {
 public:
  std::uint32_t take_slot(std::uint64_t done_below, std::uint64_t& slots) {
    slots_back_.release(done_below, [this](std::uint32_t slot) { slots_.push_back(slot); });
    if (slots_.empty()) {
      for (std::uint32_t i = slots_a_line; i-- != 0;) slots_.push_back(static_cast<std::uint32_t>(slots) + i);
      slots += slots_a_line;
    }
    const std::uint32_t slot = slots_.back();
    slots_.pop_back();
    return slot;
  }
  // One that nobody has had, and nobody will have again.
  std::uint32_t take_new_slot(std::uint64_t& slots) {
    if (new_slots_ == 0) {
      next_new_ = static_cast<std::uint32_t>(slots);
      slots += slots_a_line;
      new_slots_ = slots_a_line;
    }
    --new_slots_;
    return next_new_++;
  }
  void give_back(std::uint32_t slot, std::uint64_t order) { slots_back_.give_back(slot, order); }

  place_table::place take_place(const extent& e, std::uint64_t done_below) {
    places_back_.release(done_below, [this](const place_table::place& p) { places_.give_back(p); });
    return places_.take(e.size, e.align);
  }
  void give_back(const place_table::place& p, std::uint64_t order) { places_back_.give_back(p, order); }

  // That its places lie in.
  [[nodiscard]] std::uint64_t bytes() const { return places_.end(); }

 private:
  std::vector<std::uint32_t> slots_;
  delayed_list<std::uint32_t> slots_back_;
  std::uint32_t next_new_ = 0;
  std::uint32_t new_slots_ = 0;  // from there on
  place_table places_;
  delayed_list<place_table::place> places_back_;
};

// How far ahead of the recorded order an op may be done without what is alive growing by more than `bytes`
// over what was. Either keeps the sum of what all lanes are ahead by below that:
//   together   what was allocated from what is done to this op, by whichever lane, comes to no more
//   alone      since no moment from there on has this lane come to hold its share of them more
// The first suits lanes that only allocate, the second those that free what they allocate. With signs
// changed, it keeps what is alive from shrinking.
class growth_ahead {
 public:
  growth_ahead(std::uint64_t bytes, std::size_t lanes)
      : bytes_(bytes),
        share_(static_cast<std::int64_t>(bytes / lanes)),
        lows_(lanes, std::vector<low>{{0, 0}}),
        nets_(lanes) {}

  // The next op in order, by which this lane holds `more` bytes more, of which `size` are allocated: below
  // what is returned everything is done when it begins.
  std::uint64_t order_to_await(std::uint64_t order, std::uint32_t lane, std::uint64_t size,
                               std::int64_t more) {
    return std::min(together(order, size), alone(order, lane, more));
  }

 private:
  struct allocation {
    std::uint64_t order;
    std::uint64_t size;
  };
  // What a lane held, in bytes, until its op `until`; less than at any time since.
  struct low {
    std::int64_t net;
    std::uint64_t until;
  };

  std::uint64_t together(std::uint64_t order, std::uint64_t size) {
    if (size != 0) ahead_.push_back({order, size});
    ahead_bytes_ += size;
    for (; ahead_bytes_ > bytes_; ahead_.pop_front()) {
      ahead_bytes_ -= ahead_.front().size;
      together_ = std::min(order, ahead_.front().order + 1);
    }
    return together_;
  }

  std::uint64_t alone(std::uint64_t order, std::uint32_t lane, std::int64_t more) {
    std::vector<low>& lows = lows_[lane];
    lows.back().until = order;
    const std::int64_t net = nets_[lane] += more;
    while (!lows.empty() && lows.back().net >= net) lows.pop_back();
    const auto too_low = std::ranges::lower_bound(lows, net - share_, {}, &low::net);
    const std::uint64_t least = too_low == lows.begin() ? 0 : std::min(order, (too_low - 1)->until + 1);
    lows.push_back({net, order});
    return least;
  }

  std::uint64_t bytes_;
  std::int64_t share_;
  std::deque<allocation> ahead_;
  std::uint64_t ahead_bytes_ = 0;
  std::uint64_t together_ = 0;
  std::vector<std::vector<low>> lows_;  // by lane, rising
  std::vector<std::int64_t> nets_;      // by lane
};

class scheduler {
 public:
  scheduler(const trace& blocks, const thread_lives& lives, schedule_options options,
            std::span<const std::uint16_t> heaps)
      : ops_(blocks.ops()),
        heaps_(heaps),
        demands_(blocks.heaps()),
        facts_(blocks.facts()),
        blocks_(facts_.slots),
        extents_(extents_of(ops_, facts_.slots, facts_.allocations)),
        crossing_(options.crossing) {
    if (ops_.size() >= no_step) throw journal::error("more than 2^32 operations: too many for --threads");
    if (lives.spans.size() > std::size_t{UINT16_MAX} + 1)
      throw journal::error("more than 65536 threads: too many for --threads");
    facts_.of = subject::threads;
    facts_.marks = 0;
    facts_.window = options.window;
    facts_.copies = options.copies;
    facts_.thread_times = lives.have_times;
    find_threads(lives.spans);
    give_lanes();
    allow_ahead();
  }

  trace finish() {
    lay_out();
    for (std::size_t i = 0; i < ops_.size(); ++i) add(i);
    end_lanes();
    find_bases();
    return write();
  }

 private:
  // A block, by its slot in the trace of blocks.
  struct block {
    std::uint32_t order = 0;   // of the step that put it into its slot
    std::uint32_t thread = 0;  // that did it, in whose lane's memory the slot is
    std::uint32_t slot = 0;
    std::uint32_t allocated_by = 0;  // thread, in whose lane's memory the place is
    bool crosses = false;            // the copy before frees it
    place_table::place place;
  };

  [[nodiscard]] bool is_left_over(std::size_t i) const { return i >= facts_.recorded_ops; }

  [[nodiscard]] std::uint32_t thread_of(std::size_t i) const {
    const std::uint32_t own = thread_numbers_[ops_[i].thread];
    return is_left_over(i) && parts_[own].end != ops_.size() ? last_thread_ : own;
  }

  // The threads that have ops, in the order of their beginnings.
  void find_threads(std::vector<thread_span> lives) {
    std::vector<std::uint32_t> by_begin;
    for (std::uint32_t t = 0; t < lives.size(); ++t)
      if (lives[t].end != 0) by_begin.push_back(t);
    std::ranges::sort(by_begin, {}, [&lives](std::uint32_t t) { return std::pair(lives[t].begin, t); });

    thread_numbers_.resize(lives.size());
    for (const std::uint32_t t : by_begin) {
      thread_numbers_[t] = static_cast<std::uint32_t>(parts_.size());
      thread_part part{};
      part.begin = static_cast<std::uint32_t>(lives[t].begin);
      part.end = static_cast<std::uint32_t>(lives[t].end);
      parts_.push_back(part);
      if (part.end > parts_[last_thread_].end) last_thread_ = thread_numbers_[t];
    }
    if (facts_.never_freed != 0) parts_[last_thread_].end = static_cast<std::uint32_t>(ops_.size());
    facts_.threads_replayed = parts_.size();
    for (thread_part& part : parts_)
      part.end_all_before =
          static_cast<std::uint32_t>(part.end - std::min<std::uint64_t>(part.end, facts_.window));
  }

  // To each thread the lane that has been free for longest, or a new one.
  void give_lanes() {
    using lane_end = std::pair<std::uint32_t, std::uint32_t>;  // where its last thread ends, and which
    std::priority_queue<lane_end, std::vector<lane_end>, std::greater<>> ends;
    for (thread_part& part : parts_) {
      part.lane = static_cast<std::uint32_t>(ends.size());
      if (!ends.empty() && ends.top().first <= part.begin) {
        part.lane = ends.top().second;
        ends.pop();
      }
      ends.emplace(part.end, part.lane);
    }
    if (ends.size() > most_lanes)
      throw journal::error("more than 4096 threads alive at once: too many for --threads");
    lanes_.resize(ends.size());
    facts_.threads_at_once = ends.size();
  }

  // How much more, or less, may be alive than was. Where little is, a few blocks of each lane are let go
  // ahead all the same: threads would take turns otherwise. Large blocks are not: beside what they take,
  // waits are cheap, and a few of them are much of what is alive.
  void allow_ahead() {
    const std::size_t lanes = std::max<std::size_t>(lanes_.size(), 1);
    const std::uint64_t mean = facts_.total_bytes / std::max<std::uint64_t>(facts_.allocations, 1);
    const std::uint64_t bytes =
        std::max(facts_.max_live_bytes / part_ahead, lanes * blocks_ahead * std::min(mean, most_mean));
    grown_.emplace(bytes, lanes);
    shrunk_.emplace(bytes, lanes);
  }

  // Where each thread's steps and places begin.
  void lay_out() {
    std::vector<std::uint64_t> allocations(parts_.size());
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      const std::uint32_t thread = thread_of(i);
      ++parts_[thread].steps;
      if (is_allocation(ops_[i].kind)) ++allocations[thread];
    }
    std::uint64_t steps = 0;
    std::uint64_t places = 0;
    for (std::size_t t = 0; t < parts_.size(); ++t) {
      thread_part& part = parts_[t];
      part.first_step = steps;
      part.first_place = places;
      steps += part.steps + 1;
      places += allocations[t];
      next_step_.push_back(part.first_step);
      next_place_.push_back(part.first_place);
    }
    facts_.ops = steps;
    steps_.resize(steps);
    places_.resize(places);
  }

  void add(std::size_t i) {
    const op& o = ops_[i];
    const std::uint32_t thread = thread_of(i);
    const auto order = static_cast<std::uint32_t>(i);
    const std::uint32_t all_before = order_to_await(i, parts_[thread].lane);
    while (begun_ < parts_.size() && parts_[begun_].begin <= i)
      parts_[begun_++].begin_all_before = all_before;
    thread_step step{o, order, all_before, no_step, 0};
    if (!heaps_.empty()) step.what.set_heap(heaps_[i]);
    switch (o.kind) {
      case op_kind::allocate:
      case op_kind::allocate_aligned:
      case op_kind::allocate_zeroed:
        begin_block(step, thread);
        break;
      case op_kind::reallocate:
        wait_for_block(step, thread);
        old_slot_ = blocks_[o.slot].slot;
        end_slot(o.slot, order);
        step.what.slot = take_slot(o.slot, order, thread, all_before);
        break;
      case op_kind::resized_from:
        step.what.slot = old_slot_;
        break;
      case op_kind::deallocate:
        wait_for_block(step, thread);
        end_block(step, thread);
        break;
    }
    steps_[next_step_[thread]++] = step;
  }

  // Below it everything is done when the op, the next in order, begins.
  std::uint32_t order_to_await(std::size_t i, std::uint32_t lane) {
    const op& o = ops_[i];
    const bool resizes = o.kind == op_kind::reallocate;
    const std::uint64_t allocated = is_allocation(o.kind) || resizes ? o.size : 0;
    const std::uint64_t freed = resizes ? ops_[i + 1].size : o.kind == op_kind::deallocate ? o.size : 0;
    const auto more = static_cast<std::int64_t>(allocated - freed);
    const std::uint64_t by_bytes = std::max(grown_->order_to_await(i, lane, allocated, more),
                                            shrunk_->order_to_await(i, lane, freed, -more));
    return static_cast<std::uint32_t>(std::max(by_bytes, i - std::min<std::uint64_t>(i, facts_.window)));
  }

  void begin_block(thread_step& step, std::uint32_t thread) {
    block& b = blocks_[step.what.slot];
    b.allocated_by = thread;
    b.crosses = is_among(allocation_, crossing_);
    b.place = lane_of(thread).take_place(extents_[allocation_++], step.all_before);
    places_[next_place_[thread]++] = b.place.offset;
    step.what.slot = take_slot(step.what.slot, step.order, thread, step.all_before);
  }

  void end_block(thread_step& step, std::uint32_t thread) {
    const block& b = blocks_[step.what.slot];
    if (b.allocated_by != thread && !is_left_over(step.order)) ++facts_.remote_frees;
    if (b.crosses) {
      ++facts_.crossing_frees;
      step.crosses = true;
      wait_for(step, b);
    }
    if (!b.crosses) lane_of(b.allocated_by).give_back(b.place, step.order);
    end_slot(step.what.slot, step.order);
    step.what.slot = b.slot;
  }

  void wait_for_block(thread_step& step, std::uint32_t thread) const {
    const block& b = blocks_[step.what.slot];
    if (b.thread != thread) wait_for(step, b);
  }

  void wait_for(thread_step& step, const block& b) const {
    step.after = b.order;
    step.after_lane = static_cast<std::uint16_t>(parts_[b.thread].lane);
  }

  std::uint32_t take_slot(std::uint32_t of, std::uint32_t order, std::uint32_t thread,
                          std::uint32_t all_before) {
    block& b = blocks_[of];
    b.order = order;
    b.thread = thread;
    b.slot =
        b.crosses ? lane_of(thread).take_new_slot(slots_) : lane_of(thread).take_slot(all_before, slots_);
    return b.slot;
  }

  void end_slot(std::uint32_t of, std::uint32_t order) {
    const block& b = blocks_[of];
    if (!b.crosses) lane_of(b.thread).give_back(b.slot, order);
  }

  lane_memory& lane_of(std::uint32_t thread) { return lanes_[parts_[thread].lane]; }

  // Behind its last step each thread says with which order its lane goes on.
  void end_lanes() {
    std::vector<std::uint32_t> goes_on(lanes_.size(), static_cast<std::uint32_t>(ops_.size()));
    for (std::size_t t = parts_.size(); t-- != 0;) {
      const thread_part& part = parts_[t];
      steps_[part.first_step + part.steps].order = goes_on[part.lane];
      goes_on[part.lane] = steps_[part.first_step].order;
    }
  }

  // Lanes' places lie one after the other.
  void find_bases() {
    const std::uint64_t align = std::max<std::uint64_t>(facts_.max_align, 4096);
    std::vector<std::uint64_t> bases;
    std::uint64_t end = 0;
    for (const lane_memory& lane : lanes_) {
      bases.push_back(end);
      end = align_up(end + lane.bytes(), align);
    }
    for (std::size_t t = 0; t < parts_.size(); ++t)
      for (std::uint64_t p = parts_[t].first_place; p != next_place_[t]; ++p)
        places_[p] += bases[parts_[t].lane];
    facts_.places_bytes = end;
    facts_.slots = slots_;
  }

  [[nodiscard]] trace write() const {
    const std::size_t places_at = trace::places_offset(steps_.size(), sizeof(thread_step));
    const std::size_t parts_at = places_at + places_.size() * sizeof(std::uint64_t);
    const std::size_t demands_at = parts_at + parts_.size() * sizeof(thread_part);
    harness::shared_file file(demands_at + demands_.size_bytes());
    auto* const base = static_cast<std::byte*>(file.data());
    std::memcpy(base, &facts_, sizeof facts_);
    std::ranges::copy(steps_, reinterpret_cast<thread_step*>(base + trace::ops_offset));
    std::ranges::copy(places_, reinterpret_cast<std::uint64_t*>(base + places_at));
    std::ranges::copy(parts_, reinterpret_cast<thread_part*>(base + parts_at));
    std::ranges::copy(demands_, reinterpret_cast<heap_demand*>(base + demands_at));
    return trace(std::move(file));
  }

  std::span<const op> ops_;
  std::span<const std::uint16_t> heaps_;  // by op, of a part
  std::span<const heap_demand> demands_;
  trace_facts facts_;
  std::optional<growth_ahead> grown_;
  std::optional<growth_ahead> shrunk_;
  std::vector<block> blocks_;  // by slot in ops_
  std::vector<extent> extents_;
  double crossing_;                            // part of the frees
  std::vector<std::uint32_t> thread_numbers_;  // in parts_, by thread in ops_
  std::vector<thread_part> parts_;
  std::uint32_t last_thread_ = 0;  // the one that ends last
  std::vector<lane_memory> lanes_;

  std::vector<thread_step> steps_;
  std::vector<std::uint64_t> next_step_;  // by thread
  std::vector<std::uint64_t> places_;
  std::vector<std::uint64_t> next_place_;  // by thread
  std::size_t begun_ = 0;                  // threads, so far
  std::size_t allocation_ = 0;             // number of the next
  std::uint64_t slots_ = 0;
  std::uint32_t old_slot_ = 0;  // of the block that is reallocated
};

}  // namespace

trace schedule(const trace& blocks, const thread_lives& lives, schedule_options options,
               std::span<const std::uint16_t> heaps) {
  return scheduler(blocks, lives, options, heaps).finish();
}

trace build_thread_trace(journal::event_source& source, schedule_options options, const part_routes* routes) {
  trace_builder builder(true, routes);
  journal::event_batch batch;
  while (source.next(batch)) builder.add(batch, source.about().ticks_per_second);
  const trace blocks = builder.finish();
  return schedule(blocks, builder.threads().lives(source.tables().threads, blocks.ops().size()), options,
                  builder.heaps());
}

}  // namespace mallard::replay
