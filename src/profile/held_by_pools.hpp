// held_by_pools: what pools would hold of the system's memory if contexts were routed to them: the prediction
// of a plan (docs/plan.md).
//
//     context --> pool --> slabs, a size class each      [####|##  |    ]  pages that blocks have touched
//        `-- none: the default heap, pool 0                                 peak: the most of all together
//
// Slabs behave as those of layer/segment_slabs.hpp: 64 KiB, carved page by page where no block is free; a
// full one is used again when a sixteenth of it is free; one that is put aside and has no live blocks goes
// back, and all pools share what has come back. So pools that are used one after the other do not add up.
// Blocks of more than the largest class are pages of their own. Only requests of up to `largest` bytes of
// natural alignment are routed.
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
  [[nodiscard]] std::uint64_t peak_of(std::size_t number) const { return pools_.at(number).peak * page; }

 private:
  using classes = segment_classes;

  static constexpr std::uint32_t none = UINT32_MAX;
  static constexpr std::uint64_t page = 4096;
  static constexpr std::uint32_t slab_bytes = 65536;
  static constexpr std::uint64_t natural = 16;  // the alignment of all blocks

  // `aside`: with room for new blocks, but not the current one of its class.
  enum class slab_state : std::uint8_t { gone, current, full, listed, aside };

  struct slab {
    std::uint32_t pool = 0;
    std::uint32_t carved = 0;
    std::uint32_t used = 0;
    std::uint16_t index = 0;  // of its class
    std::uint16_t pages = 0;  // touched
    slab_state state = slab_state::gone;
  };

  using slab_list = std::vector<std::uint32_t>;  // some have got another state since

  struct pool {
    slab_list current;              // by class; none: there is none
    std::vector<slab_list> listed;  // by class: full ones of which a sixteenth is free
    std::vector<slab_list> aside;
    std::uint64_t held = 0;  // pages
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
      in.listed.resize(classes::count);
      in.aside.resize(classes::count);
    }
    std::uint32_t& at = in.current[index];
    if (at == none || slabs_[at].used == slabs_[at].carved) at = refilled(in, number, index);
    ++slabs_[at].used;
    return at;
  }

  // The slab to go on with where the current one has no free block; it has one.
  std::uint32_t refilled(pool& in, std::uint32_t number, std::size_t index) {
    const std::uint32_t before = in.current[index];
    std::uint32_t found = latest(in.listed[index], slab_state::listed, number, index);
    if (found == none && before != none && slabs_[before].carved < capacity(slabs_[before])) found = before;
    if (found == none) found = latest(in.aside[index], slab_state::aside, number, index);
    if (found == none) found = fresh(number, index);
    if (before != none && found != before) put_aside(in, before);
    slabs_[found].state = slab_state::current;
    if (slabs_[found].used == slabs_[found].carved) carve(in, slabs_[found]);
    return found;
  }

  // Takes the newest of a list that still has its state.
  std::uint32_t latest(slab_list& list, slab_state state, std::uint32_t number, std::size_t index) {
    while (!list.empty()) {
      const std::uint32_t found = list.back();
      list.pop_back();
      const slab& s = slabs_[found];
      if (s.state == state && s.pool == number && s.index == index) return found;
    }
    return none;
  }

  std::uint32_t fresh(std::uint32_t number, std::size_t index) {
    if (empty_.empty()) {
      empty_.push_back(static_cast<std::uint32_t>(slabs_.size()));
      slabs_.emplace_back();
    }
    const std::uint32_t found = empty_.back();
    empty_.pop_back();
    slabs_[found] = {.pool = number, .index = static_cast<std::uint16_t>(index)};
    return found;
  }

  // New blocks, as many as lie in the page or pages of the first one.
  void carve(pool& in, slab& s) noexcept {
    const std::uint64_t size = classes::size(s.index);
    const std::uint64_t end = page * pages_of((s.carved + 1) * size);
    s.carved = std::min(static_cast<std::uint32_t>(end / size), capacity(s));
    const auto touched = static_cast<std::uint16_t>(pages_of(s.carved * size));
    if (touched <= s.pages) return;
    hold(in, touched - s.pages);
    s.pages = touched;
  }

  void put_aside(pool& in, std::uint32_t number) {
    slab& s = slabs_[number];
    if (s.carved == capacity(s)) {
      s.state = slab_state::full;
    } else if (s.used == 0) {
      give_back(in, number);
    } else {
      s.state = slab_state::aside;
      in.aside[s.index].push_back(number);
    }
  }

  void give_back(pool& in, std::uint32_t number) {
    give(in, slabs_[number].pages);
    slabs_[number] = {};
    empty_.push_back(number);
  }

  void free_in(std::uint32_t number) {
    slab& s = slabs_[number];
    pool& in = pools_[s.pool];
    --s.used;
    if (s.state == slab_state::current) {
      if (s.used == 0) s.carved = 0;  // it starts anew
      return;
    }
    if (s.state == slab_state::full) {
      if (capacity(s) - s.used < std::max(capacity(s) / 16, 1U)) return;
      s.state = slab_state::listed;
      in.listed[s.index].push_back(number);
    }
    if (s.used == 0) give_back(in, number);
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
