// held_by_pools: what pools would hold of the system's memory if contexts were routed to them: the prediction
// of a plan (docs/plan.md).
//
//     context --> pool --> slabs, a size class each      [####|##  |    ]  pages that blocks have touched
//        `-- none: the default heap, pool 0                                 peak: the most of all together
//
// Slabs are those of layer/segment_slabs.hpp: 64 KiB, carved page by page; a full one is used again when a
// sixteenth of it is free; one without live blocks goes back, and all pools share what has come back. So
// pools that are used one after the other do not add up. Blocks of more than the largest class are pages of
// their own. Only requests of up to `largest` bytes of natural alignment are routed.
//
// A context can have many pools, one an instance, of which a journal does not tell: its blocks are spread
// over them evenly, by the numbers of their events.
//
// Left out: threads, which have slabs of their own in the default heap, and memory that has come back and not
// been asked for since. Cost: some 20 ns an event; 24 bytes a live object, 40 a slab.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "mallard/layer/segment_slabs.hpp"
#include "profile/watcher.hpp"

namespace mallard::profile {

// Which pools a context's blocks go to: `pools` from `first` on, by context. `first` 0: the default heap.
// Contexts beyond the end have that, too.
struct pool_assignment {
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> pools;  // at least 1
  std::uint64_t largest = 1024;      // bytes that are routed
};

class held_by_pools final : public watcher {
 public:
  explicit held_by_pools(pool_assignment routes) : routes_(std::move(routes)) {
    std::uint32_t last = 0;
    for (std::size_t i = 0; i < routes_.first.size(); ++i)
      last = std::max(last, routes_.first[i] + (routes_.first[i] == 0 ? 0 : routes_.pools.at(i) - 1));
    pools_.resize(std::size_t{last} + 1);
  }

  void allocated(std::uint32_t slot, const object& o) override {
    if (slot >= slab_of_.size()) slab_of_.resize(std::max<std::size_t>(slot + 1, 2 * slab_of_.size()));
    slab_of_[slot] = none;
    if (o.region != 0) return;
    const std::uint32_t number = pool_of(o);
    if (number != 0) {
      ++routed_.events;
      routed_.bytes += o.size;
    }
    if (o.size > classes::largest) {
      hold(pools_[number], pages_of(o.size));
    } else {
      slab_of_[slot] = take(number, classes::index(o.size, alignment_of(o)));
    }
    peak_ = std::max(peak_, held_);
  }

  void freed(std::uint32_t slot, const object& o) override {
    if (o.region != 0) return;
    if (slab_of_[slot] == none)
      give(pools_[pool_of(o)], pages_of(o.size));
    else
      free_in(slab_of_[slot]);
  }

  void leaked(std::uint32_t /*slot*/, const object& /*o*/) override {}

  struct routed {
    std::uint64_t events = 0;  // allocations
    std::uint64_t bytes = 0;
  };

  [[nodiscard]] std::uint64_t peak() const noexcept { return peak_ * page; }  // bytes, of all together
  [[nodiscard]] routed routed_in_all() const noexcept { return routed_; }
  [[nodiscard]] std::size_t pools() const noexcept { return pools_.size(); }
  // Bytes, of one pool alone; the default heap is pool 0.
  [[nodiscard]] std::uint64_t peak_of(std::size_t pool) const { return pools_.at(pool).peak * page; }

 private:
  using classes = segment_classes;

  static constexpr std::uint32_t none = UINT32_MAX;
  static constexpr std::uint64_t page = 4096;
  static constexpr std::uint32_t slab_bytes = 65536;
  static constexpr std::uint64_t natural = 16;  // the alignment of all blocks

  struct slab {
    std::uint32_t pool = 0;
    std::uint16_t index = 0;  // of its class
    std::uint16_t pages = 0;  // touched
    std::uint32_t carved = 0;
    std::uint32_t used = 0;
    bool waits = false;  // among those with room
  };

  struct pool {
    std::vector<std::uint32_t> current;            // by class; none: there is none
    std::vector<std::vector<std::uint32_t>> room;  // by class: others with free blocks
    std::uint64_t held = 0;                        // pages
    std::uint64_t peak = 0;
  };

  static std::uint64_t pages_of(std::uint64_t bytes) noexcept { return bytes / page + (bytes % page != 0); }
  static std::uint64_t alignment_of(const object& o) noexcept {
    return o.alignment == 0 || o.alignment > classes::max_align ? 1 : o.alignment;
  }
  static std::uint32_t capacity(const slab& s) noexcept {
    return static_cast<std::uint32_t>(slab_bytes / classes::size(s.index));
  }

  [[nodiscard]] std::uint32_t pool_of(const object& o) const noexcept {
    if (o.context >= routes_.first.size() || o.size > routes_.largest || o.alignment > natural) return 0;
    const std::uint32_t first = routes_.first[o.context];
    const std::uint32_t pools = first == 0 ? 1 : routes_.pools[o.context];
    constexpr std::uint64_t spread = 0x9E3779B97F4A7C15;
    return pools == 1 ? first : first + static_cast<std::uint32_t>((o.allocation * spread >> 32) % pools);
  }

  void hold(pool& in, std::uint64_t pages) noexcept {
    held_ += pages;
    in.held += pages;
    in.peak = std::max(in.peak, in.held);
  }
  void give(pool& in, std::uint64_t pages) noexcept {
    held_ -= pages;
    in.held -= pages;
  }

  // A block's slab.
  std::uint32_t take(std::uint32_t number, std::size_t index) {
    pool& in = pools_[number];
    if (in.current.empty()) {
      in.current.assign(classes::count, none);
      in.room.resize(classes::count);
    }
    std::uint32_t& at = in.current[index];
    if (at == none || slabs_[at].used == capacity(slabs_[at])) at = next(in, number, index);
    slab& s = slabs_[at];
    if (s.used++ < s.carved) return at;
    ++s.carved;
    const auto touched = static_cast<std::uint16_t>(pages_of(s.carved * classes::size(index)));
    hold(in, touched - s.pages);
    s.pages = touched;
    return at;
  }

  // The slab that is used next where the current one is full, or missing.
  std::uint32_t next(pool& in, std::uint32_t number, std::size_t index) {
    std::vector<std::uint32_t>& waiting = in.room[index];
    while (!waiting.empty()) {
      const std::uint32_t found = waiting.back();
      waiting.pop_back();
      slab& s = slabs_[found];
      if (!s.waits || s.pool != number || s.index != index) continue;  // it has gone back meanwhile
      s.waits = false;
      return found;
    }
    const slab fresh{.pool = number, .index = static_cast<std::uint16_t>(index)};
    if (empty_.empty()) {
      slabs_.push_back(fresh);
      return static_cast<std::uint32_t>(slabs_.size() - 1);
    }
    const std::uint32_t found = empty_.back();
    empty_.pop_back();
    slabs_[found] = fresh;
    return found;
  }

  void free_in(std::uint32_t number) {
    slab& s = slabs_[number];
    pool& in = pools_[s.pool];
    const bool is_current = in.current[s.index] == number;
    --s.used;
    if (s.used == 0) {
      if (is_current && s.pages <= 1) return;  // it starts anew
      give(in, s.pages);
      if (is_current) in.current[s.index] = none;
      s = {};
      empty_.push_back(number);
      return;
    }
    if (is_current || s.waits || capacity(s) - s.used < std::max(capacity(s) / 16, 1U)) return;
    s.waits = true;
    in.room[s.index].push_back(number);
  }

  pool_assignment routes_;
  std::vector<pool> pools_;
  std::vector<slab> slabs_;
  std::vector<std::uint32_t> empty_;    // among slabs_
  std::vector<std::uint32_t> slab_of_;  // by slot of the object
  routed routed_;
  std::uint64_t held_ = 0;  // pages
  std::uint64_t peak_ = 0;
};

}  // namespace mallard::profile
