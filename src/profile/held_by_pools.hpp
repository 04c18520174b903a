// held_by_pools: what pools would hold of the system's memory if contexts were routed to them: the prediction
// of a plan (docs/plan.md).
//
//     context --> pool --> slabs, a size class each      [####|##  |    ]  pages that blocks have touched
//        `-- none: the default heap, pool 0                                 peak: the most of all together
//
// Slabs behave as those of layer/segment_slabs.hpp: 64 KiB, or a quarter of that, carved page by page where
// no block is free; a full one is used again when a sixteenth of it is free; those that few blocks keep give
// back the pages between them where a pool has grown by new memory: as many as they would have free if those
// blocks lay anywhere. One without live blocks goes back, but for the first page of a pool's current one and
// for all of the default heap's, and all pools share what has come back. So pools that are used one after the
// other do not add up. Blocks of more than the largest class are pages of their own. Only requests of up to
// `largest` bytes of natural alignment are routed.
//
// Pools of the other kinds put one block after the other, as src/malloc/bump_pool.hpp does. When a region
// ends is not known here: each is one until all of its blocks have ended.
//
// A context can have many pools, one an instance. Of some blocks a snapshot tells which (owner_places.hpp).
// Others belong to those that the latest snapshots of the newest window name, in their order, again and
// again: so blocks of an instance come in runs where they did there, and instances that follow one another
// have pools that do. Without snapshots, blocks are spread over the pools evenly.
//
// On request it notes how much of each pool is alive over the journal's events, in `moments` of equal length:
// how busy the machine was does not matter.
//
// Each thread has a heap of its own, and slabs of its own in each pool; what another thread frees is back at
// once. Segments are taken and kept by the library's own rules (simulated_segments.hpp). Cost: some 20 ns an
// event; 28 bytes a live object, 48 a slab.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mallard/layer/segment_slabs.hpp"
#include "profile/owner_places.hpp"
#include "profile/simulated_segments.hpp"
#include "profile/watcher.hpp"

namespace mallard::profile {

// How a pool places its blocks: in slabs; one after the other; the same, but in freed ones of the size
// first; in slabs of a quarter of a segment.
enum class placing : std::uint32_t { slabs, behind, reused, parts };

// Which pools a context's blocks go to: `pools` from `first` on, by context. `first` 0: the default heap.
// Contexts beyond the end have that, too.
struct pool_assignment {
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> pools;    // at least 1
  std::vector<placing> kinds{};        // of these pools; beyond the end: slabs
  std::vector<std::uint32_t> heaps{};  // of threads: those that have one after the other; beyond the end: 0
  // Of the words of a snapshot, which one tells the instance; beyond the end, or no such word: none does.
  std::vector<std::uint32_t> places{};
  std::uint64_t largest = 1024;     // bytes that are routed
  bool default_in_segments = true;  // false: the default heap is another malloc's, without such slabs
};

// A journal's snapshots, by rising numbers of the events that they belong to.
struct snapshots_in_order {
  std::span<const std::uint64_t> events{};
  std::span<const std::uint64_t> words{};  // snapshot_places each
};

class held_by_pools final : public watcher {
 public:
  // `moments`: how many there are, over the journal's `events`; 0: nobody asks. The snapshots must outlive
  // it.
  explicit held_by_pools(pool_assignment routes, std::uint64_t events = 0, std::uint32_t moments = 0,
                         snapshots_in_order snapshots = {})
      : routes_(std::move(routes)),
        snapshots_(snapshots),
        moments_(moments),
        moment_(moments == 0 ? 1 : events / moments + 1) {
    std::uint32_t last = 0;
    for (std::size_t i = 0; i < routes_.first.size(); ++i)
      last = std::max(last, routes_.first[i] + (routes_.first[i] == 0 ? 0 : routes_.pools.at(i) - 1));
    pools_.resize(std::size_t{last} + 1);
    for (std::size_t i = 0; i < std::min(routes_.kinds.size(), routes_.first.size()); ++i)
      if (routes_.first[i] != 0)
        for (std::uint32_t n = 0; n != routes_.pools[i]; ++n)
          pools_[routes_.first[i] + n].kind = routes_.kinds[i];
    pools_[0].in_segments = routes_.default_in_segments;
    for (pool& p : pools_) p.alive_over_time.resize(moments);
  }

  void allocated(std::uint32_t slot, const object& o) override {
    if (slot >= slab_of_.size()) {
      slab_of_.resize(std::max<std::size_t>(slot + 1, 2 * slab_of_.size()));
      pool_of_.resize(slab_of_.size());
    }
    slab_of_[slot] = none;
    if (o.region != 0) return;
    segments_->set_time(o.allocation_time);
    const std::uint32_t number = pool_for(o);
    pool_of_[slot] = number;
    if (number != 0) {
      ++routed_.events;
      routed_.bytes += o.size;
    }
    note(pools_[number], o.allocation, o.size);
    if (o.size > classes::largest) {
      take_large(slot, o);
    } else if (is_behind(pools_[number].kind)) {
      slab_of_[slot] = take_behind(set_of(number, o.thread), step_of(o.size));
    } else {
      slab_of_[slot] = take(set_of(number, o.thread), classes::index(o.size, alignment_of(o)));
    }
    peak_ = std::max(peak_, elsewhere_ + segments_->resident());
    most_in_segments_ = std::max(most_in_segments_, elsewhere_ + segments_->in_segments());
  }

  void freed(std::uint32_t slot, const object& o) override {
    if (o.region != 0) return;
    segments_->set_time(o.free_time);
    pool& in = pools_[pool_of_[slot]];
    note(in, o.free, 0 - o.size);
    if (slab_of_[slot] == none) {
      free_large(slot, o);
    } else if (is_behind(in.kind)) {
      free_behind(slab_of_[slot], step_of(o.size));
    } else {
      free_in(slab_of_[slot]);
    }
  }

  void leaked(std::uint32_t /*slot*/, const object& /*o*/) override {}

  struct routed {
    std::uint64_t events = 0;  // allocations
    std::uint64_t bytes = 0;
  };

  [[nodiscard]] std::uint64_t peak() const noexcept { return peak_ * page; }  // bytes, of all together
  // The same where all of a segment that is in use is memory, as in huge pages. A default heap without
  // segments counts by pages all the same.
  [[nodiscard]] std::uint64_t peak_in_segments() const noexcept { return most_in_segments_ * page; }
  [[nodiscard]] routed routed_in_all() const noexcept { return routed_; }
  [[nodiscard]] std::size_t pools() const noexcept { return pools_.size(); }
  // Bytes, of one pool alone; the default heap is pool 0.
  [[nodiscard]] std::uint64_t peak_of(std::size_t number) const { return pools_.at(number).peak * page; }
  // The most bytes alive of one pool in each moment.
  [[nodiscard]] std::vector<std::uint64_t> alive_over_time(std::size_t number) const {
    pool last = pools_.at(number);
    if (moments_ != 0) note(last, moments_ * moment_ - 1, 0);
    return last.alive_over_time;
  }

 private:
  using classes = segment_classes;

  static constexpr std::uint32_t none = UINT32_MAX;
  static constexpr std::uint64_t page = simulated_segments::page;
  static constexpr std::uint32_t slab_bytes = segments::segment_bytes;
  static constexpr std::uint32_t part_bytes = segments::part_bytes;
  static constexpr std::uint64_t natural = 16;             // the alignment of all blocks
  static constexpr std::uint64_t least_moved = 128 << 10;  // bytes, as src/malloc/malloc_entries.cpp has it
  static constexpr std::uint64_t header = 8;               // of a block behind another one
  static constexpr std::uint32_t least_new_slabs = 32;     // until pages between blocks are looked for
  static constexpr std::size_t most_recent = 1U << 14;     // snapshots of a window

  // `aside`: with room for new blocks, but not the current one of its class.
  enum class slab_state : std::uint8_t { gone, current, full, listed, aside };

  struct slab {
    std::uint32_t set = 0;
    std::uint32_t carved = 0;
    std::uint32_t used = 0;
    std::uint16_t index = 0;      // of its class
    std::uint16_t pages = 0;      // touched
    std::uint16_t used_then = 0;  // blocks, when pages were given back last; 0: not since it was in use
    slab_state state = slab_state::gone;
    segment* at = nullptr;  // null: of another malloc, or there are no addresses
  };

  using slab_list = std::vector<std::uint32_t>;  // some have got another state since

  // What a pool is in one heap.
  struct slab_set {
    std::uint32_t pool = 0;
    slab_list current;              // by class; none: there is none
    std::vector<slab_list> listed;  // by class: full ones of which a sixteenth is free
    std::vector<slab_list> aside;
    std::uint32_t behind = none;   // the slab that is filled, where blocks lie one after the other
    slab_list filled;              // those before it, where freed blocks are used again
    std::uint64_t used = 0;        // blocks of all such slabs
    std::vector<slab_list> freed;  // of each step: where its blocks have been freed
    std::uint32_t slabs = 0;
    std::uint32_t new_slabs_until_look = least_new_slabs;
  };

  struct pool {
    std::vector<std::uint32_t> sets;  // by heap, among sets_; none: it has had no block
    placing kind = placing::slabs;
    bool in_segments = true;
    std::uint64_t held = 0;  // pages
    std::uint64_t peak = 0;
    std::uint64_t alive = 0;  // bytes
    std::uint64_t noted = 0;  // moments
    std::vector<std::uint64_t> alive_over_time;
  };

  static std::uint64_t pages_of(std::uint64_t bytes) noexcept { return bytes / page + (bytes % page != 0); }
  static std::uint64_t alignment_of(const object& o) noexcept {
    return o.alignment == 0 || o.alignment > classes::max_align ? 1 : o.alignment;
  }
  static bool is_behind(placing how) noexcept { return how == placing::behind || how == placing::reused; }
  // Bytes of each of its slabs.
  static std::uint32_t bytes_of_slab(const pool& in) noexcept {
    return in.kind == placing::parts ? part_bytes : slab_bytes;
  }
  [[nodiscard]] std::uint32_t capacity(const slab& s) const noexcept {
    return static_cast<std::uint32_t>(bytes_of_slab(pool_of(s)) / classes::size(s.index));
  }

  [[nodiscard]] const pool& pool_of(const slab& s) const noexcept { return pools_[sets_[s.set].pool]; }
  [[nodiscard]] pool& pool_of(const slab& s) noexcept { return pools_[sets_[s.set].pool]; }

  std::uint32_t set_of(std::uint32_t number, std::uint32_t thread) {
    const std::uint32_t heap = thread < routes_.heaps.size() ? routes_.heaps[thread] : 0;
    std::vector<std::uint32_t>& all = pools_[number].sets;
    if (heap >= all.size()) all.resize(std::size_t{heap} + 1, none);
    if (all[heap] == none) {
      all[heap] = static_cast<std::uint32_t>(sets_.size());
      sets_.emplace_back().pool = number;
    }
    return all[heap];
  }

  // Instances that have some pools, by the words of snapshots.
  struct known_instances {
    std::unordered_map<std::uint64_t, std::uint64_t> numbers;  // in the order of their discovery
    std::deque<std::uint64_t> recent;                          // of the latest snapshots of the newest window
    std::size_t without = 0;                                   // blocks since that have none
    std::uint64_t newest = 0;                                  // event of a snapshot
  };

  std::uint32_t pool_for(const object& o) {
    if (o.context >= routes_.first.size() || o.size > routes_.largest || o.alignment > natural) return 0;
    const std::uint32_t first = routes_.first[o.context];
    const std::uint32_t pools = first == 0 ? 1 : routes_.pools[o.context];
    return pools == 1 ? first : first + static_cast<std::uint32_t>(instance_of(o, first) % pools);
  }

  // A number of the block's instance, among those with these pools.
  std::uint64_t instance_of(const object& o, std::uint32_t first) {
    constexpr std::uint64_t spread = 0x9E3779B97F4A7C15;
    const std::uint64_t any = o.allocation * spread >> 32;
    const std::size_t place = o.context < routes_.places.size() ? routes_.places[o.context] : snapshot_places;
    if (place >= snapshot_places) return any;
    known_instances& known = instances_[first];
    const auto& events = snapshots_.events;
    while (next_ != events.size() && events[next_] < o.allocation) ++next_;
    if (next_ == events.size() || events[next_] != o.allocation)
      return known.recent.empty() ? any : known.recent[known.without++ % known.recent.size()];
    const std::uint64_t word = snapshots_.words[next_ * snapshot_places + place];
    const std::uint64_t found = known.numbers.try_emplace(word, known.numbers.size()).first->second;
    if (o.allocation - std::exchange(known.newest, o.allocation) > window_gap) {
      known.recent.clear();
      known.without = 0;
    }
    known.recent.push_back(found);
    if (known.recent.size() > most_recent) known.recent.pop_front();
    return found;
  }

  // Bytes that a block takes behind another one.
  static std::uint64_t step_of(std::uint64_t size) noexcept {
    return std::max<std::uint64_t>((size + header + natural - 1) / natural * natural, 2 * natural);
  }

  // A change of the bytes alive, by an event: moments that have passed since the last one had these.
  void note(pool& in, std::uint64_t event, std::uint64_t change) const {
    if (moments_ == 0) return;
    const std::uint64_t now = std::min<std::uint64_t>(event / moment_, moments_ - 1);
    for (; in.noted < now; ++in.noted) {
      std::uint64_t& most = in.alive_over_time[in.noted];
      most = std::max(most, in.alive);
      in.alive_over_time[in.noted + 1] = in.alive;
    }
    in.alive += change;
    in.alive_over_time[now] = std::max(in.alive_over_time[now], in.alive);
  }

  void hold(pool& in, std::uint64_t pages) noexcept {
    in.held += pages;
    in.peak = std::max(in.peak, in.held);
    if (!in.in_segments) elsewhere_ += pages;
  }
  void give(pool& in, std::uint64_t pages) noexcept {
    in.held -= pages;
    if (!in.in_segments) elsewhere_ -= pages;
  }

  void take_large(std::uint32_t slot, const object& o) {
    pool& in = pools_[pool_of_[slot]];
    hold(in, pages_of(o.size));
    if (!in.in_segments) return;
    const bool may_grow = journal::is_reallocation(o.kind);  // again: it has as much room behind it
    segment* const at = large_[slot] = segments_->take_large(pages_of(o.size) * (may_grow ? 2 : 1));
    segments_->touch(at, 0, pages_of(o.size));
  }
  // Pages of one that realloc() moves become those of the block that it returns; small ones are copied.
  void free_large(std::uint32_t slot, const object& o) {
    pool& in = pools_[pool_of_[slot]];
    give(in, pages_of(o.size));
    if (!in.in_segments) return;
    const auto found = large_.find(slot);
    const bool are_moved = journal::is_reallocation(o.free_kind) && o.size >= least_moved;
    segments_->give_back(found->second, pages_of(o.size), are_moved);
    large_.erase(found);
  }

  // The first pages of a slab.
  void touch(slab& s, std::uint64_t pages) {
    if (pages <= s.pages) return;
    hold(pool_of(s), pages - s.pages);
    if (pool_of(s).in_segments) segments_->touch(s.at, s.pages, pages);
    s.pages = static_cast<std::uint16_t>(pages);
  }

  // A block's slab.
  std::uint32_t take(std::uint32_t number, std::size_t index) {
    slab_set& in = sets_[number];
    if (in.current.empty()) {
      in.current.assign(classes::count, none);
      in.listed.resize(classes::count);
      in.aside.resize(classes::count);
    }
    std::uint32_t& at = in.current[index];
    if (at == none || slabs_[at].used == slabs_[at].carved) at = refilled(in, number, index);
    ++slabs_[at].used;
    return at;
  }

  // The slab to go on with where the current one has no free block; it has one.
  std::uint32_t refilled(slab_set& in, std::uint32_t number, std::size_t index) {
    const std::uint32_t before = in.current[index];
    std::uint32_t found = latest(in.listed[index], slab_state::listed, number, index);
    if (found == none && before != none && slabs_[before].carved < capacity(slabs_[before])) found = before;
    if (found == none) found = latest(in.aside[index], slab_state::aside, number, index);
    if (found == none) found = fresh(number, index);
    if (before != none && found != before) put_aside(in, before);
    slabs_[found].state = slab_state::current;
    if (slabs_[found].used == slabs_[found].carved) carve(slabs_[found]);
    return found;
  }

  // Takes the newest of a list that still has its state.
  std::uint32_t latest(slab_list& list, slab_state state, std::uint32_t number, std::size_t index) {
    while (!list.empty()) {
      const std::uint32_t found = list.back();
      list.pop_back();
      const slab& s = slabs_[found];
      if (s.state == state && s.set == number && s.index == index) return found;
    }
    return none;
  }

  std::uint32_t fresh(std::uint32_t number, std::size_t index) {
    slab_set& in = sets_[number];
    ++in.slabs;
    if (empty_.empty()) {
      empty_.push_back(static_cast<std::uint32_t>(slabs_.size()));
      slabs_.emplace_back();
      if (--in.new_slabs_until_look == 0) give_pages(number);
    }
    const std::uint32_t found = empty_.back();
    empty_.pop_back();
    slabs_[found] = {.set = number, .index = static_cast<std::uint16_t>(index)};
    const pool& of = pools_[in.pool];
    if (of.in_segments) slabs_[found].at = segments_->take_slab(of.kind == placing::parts);
    return found;
  }

  // The pages between blocks of slabs that few keep.
  void give_pages(std::uint32_t number) {
    slab_set& in = sets_[number];
    for (std::vector<slab_list>* const lists : {&in.listed, &in.aside})
      for (std::uint16_t index = 0; index < lists->size(); ++index)
        for (const std::uint32_t n : (*lists)[index]) {
          slab& s = slabs_[n];
          const bool is_here = s.state == (lists == &in.listed ? slab_state::listed : slab_state::aside) &&
                               s.set == number && s.index == index;
          if (is_here && s.used <= std::min<std::uint32_t>(slab_bytes / page, capacity(s) / 2) &&
              (s.used_then == 0 || s.used <= s.used_then / 2))
            give_pages_of(s);
        }
    in.new_slabs_until_look = std::max(least_new_slabs, in.slabs / 8);
  }

  void give_pages_of(slab& s) noexcept {
    const auto size = static_cast<double>(classes::size(s.index));
    const double touched_by_one = 1 + (size - 1) / page;
    const double free = s.pages * std::pow(1 - 1.0 / s.pages, s.used * touched_by_one);
    const auto pages = static_cast<std::uint32_t>(free + 0.5);
    const auto blocks = static_cast<std::uint32_t>(static_cast<double>(pages * page) / size);
    s.carved = std::max(s.carved - std::min(blocks, s.carved), s.used);
    if (pool_of(s).in_segments) segments_->forget(s.at, s.pages - pages, s.pages);
    s.pages = static_cast<std::uint16_t>(s.pages - pages);
    s.used_then = static_cast<std::uint16_t>(s.used);
    give(pool_of(s), pages);
  }

  // New blocks, as many as lie in the page or pages of the first one.
  void carve(slab& s) {
    const std::uint64_t size = classes::size(s.index);
    const std::uint64_t end = page * pages_of((s.carved + 1) * size);
    s.carved = std::min(static_cast<std::uint32_t>(end / size), capacity(s));
    touch(s, pages_of(s.carved * size));
  }

  void put_aside(slab_set& in, std::uint32_t number) {
    slab& s = slabs_[number];
    s.used_then = 0;
    if (s.carved == capacity(s)) {
      s.state = slab_state::full;
    } else if (s.used == 0) {
      give_back(number);
    } else {
      s.state = slab_state::aside;
      in.aside[s.index].push_back(number);
    }
  }

  void give_back(std::uint32_t number) {
    slab& s = slabs_[number];
    give(pool_of(s), s.pages);
    if (pool_of(s).in_segments) segments_->give_back(s.at, s.pages);
    --sets_[s.set].slabs;
    s = {};
    empty_.push_back(number);
  }

  void free_in(std::uint32_t number) {
    slab& s = slabs_[number];
    slab_set& in = sets_[s.set];
    --s.used;
    if (s.state == slab_state::current) {
      if (s.used != 0) return;
      if (in.pool == 0 || s.pages <= 1) {
        if (classes::size(s.index) <= classes::small || !in.listed[s.index].empty())
          s.carved = 0;  // starts anew
        return;
      }
      in.current[s.index] = none;
      return give_back(number);
    }
    if (s.state == slab_state::full) {
      if (capacity(s) - s.used < std::max(capacity(s) / 16, 1U)) return;
      s.state = slab_state::listed;
      in.listed[s.index].push_back(number);
    }
    if (s.used == 0) give_back(number);
  }

  // A slab with room for a block behind the others, or one that such a block was freed in.
  std::uint32_t take_behind(std::uint32_t number, std::uint64_t step) {
    slab_set& in = sets_[number];
    const bool are_reused = pools_[in.pool].kind == placing::reused;
    ++in.used;
    if (are_reused) {
      if (in.freed.size() <= step / natural) in.freed.resize(step / natural + 1);
      if (slab_list& again = in.freed[step / natural]; !again.empty()) {
        const std::uint32_t found = again.back();
        again.pop_back();
        ++slabs_[found].used;
        return found;
      }
    }
    if (in.behind == none || slabs_[in.behind].carved + step > slab_bytes) {
      if (in.behind != none && are_reused) in.filled.push_back(in.behind);
      in.behind = fresh(number, 0);
      slabs_[in.behind].state = slab_state::current;
    }
    slab& s = slabs_[in.behind];
    s.carved += static_cast<std::uint32_t>(step);
    touch(s, pages_of(s.carved));
    ++s.used;
    return in.behind;
  }

  void free_behind(std::uint32_t number, std::uint64_t step) {
    slab& s = slabs_[number];
    slab_set& in = sets_[s.set];
    --s.used;
    --in.used;
    if (pools_[in.pool].kind == placing::reused) {
      in.freed[step / natural].push_back(number);
      if (in.used != 0) return;
      in.freed.clear();
      for (const std::uint32_t full : in.filled) give_back(full);
      in.filled.clear();
      slabs_[in.behind].carved = 0;
    } else if (s.used == 0) {
      if (number == in.behind)
        s.carved = 0;
      else
        give_back(number);
    }
  }

  pool_assignment routes_;
  snapshots_in_order snapshots_;
  std::size_t next_ = 0;                                          // of them
  std::unordered_map<std::uint32_t, known_instances> instances_;  // by the first of their pools
  std::uint64_t moments_;
  std::uint64_t moment_;  // events
  std::vector<pool> pools_;
  std::deque<slab_set> sets_;  // where they stay when there are more
  std::vector<slab> slabs_;
  std::vector<std::uint32_t> empty_;    // among slabs_
  std::vector<std::uint32_t> slab_of_;  // by slot of the object
  std::vector<std::uint32_t> pool_of_;  // likewise
  routed routed_;
  std::unique_ptr<simulated_segments> segments_ = std::make_unique<simulated_segments>();
  std::unordered_map<std::uint32_t, segment*> large_;  // by slot of the object
  std::uint64_t elsewhere_ = 0;                        // pages of another malloc
  std::uint64_t peak_ = 0;
  std::uint64_t most_in_segments_ = 0;
};

}  // namespace mallard::profile
