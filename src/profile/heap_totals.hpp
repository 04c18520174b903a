// heap_totals: the whole program's malloc family: how much was allocated, what was alive when.
//
//     allocated, freed --> live bytes, live objects, held pages --> peak, timeline
//
// Cost: some ns an event, and what held_pages takes.
#pragma once

#include <cstdint>

#include "journal/events/flat_table.hpp"
#include "profile/timeline.hpp"
#include "profile/watcher.hpp"

namespace mallard::profile {

// How many bytes of pages hold anything alive, which no heap could give back.
//
//     pages    |    a b|bbbbbbb|bb   c |       a, b and c alive: all three pages are held
//               shared   b's own  shared
//
// Live blocks do not overlap, so only the first and the last page of a block can be another's, too: those
// are counted by a table, the ones between by subtraction. Cost: at most two look-ups an allocation or free,
// whatever a block's size.
class held_pages {
 public:
  static constexpr std::uint64_t page_bytes = 4096;

  void add(std::uint64_t address, std::uint64_t size) {
    const auto [first, last] = pages_of(address, size);
    hold(first);
    if (first == last) return;
    hold(last);
    pages_ += last - first - 1;
  }

  // Of a block that has been added.
  void remove(std::uint64_t address, std::uint64_t size) {
    const auto [first, last] = pages_of(address, size);
    release(first);
    if (first == last) return;
    release(last);
    pages_ -= last - first - 1;
  }

  [[nodiscard]] std::uint64_t bytes() const noexcept { return pages_ * page_bytes; }

 private:
  struct range {
    std::uint64_t first;
    std::uint64_t last;
  };

  // Numbers from 1, as the table wants its keys. A block of no bytes lies on a page, too.
  static range pages_of(std::uint64_t address, std::uint64_t size) noexcept {
    const std::uint64_t more = size == 0 ? 0 : size - 1;
    const std::uint64_t end = more > UINT64_MAX - address ? UINT64_MAX : address + more;
    return {address / page_bytes + 1, end / page_bytes + 1};
  }

  void hold(std::uint64_t page) {
    if (auto* const found = users_.find(page)) {
      ++found->value;
    } else {
      users_.insert(page, 1);
      ++pages_;
    }
  }

  void release(std::uint64_t page) {
    auto* const found = users_.find(page);
    if (--found->value != 0) return;
    users_.erase(found);
    --pages_;
  }

  journal::flat_table<std::uint64_t, std::uint64_t> users_;  // live blocks that begin or end there
  std::uint64_t pages_ = 0;
};

class heap_totals final : public watcher {
 public:
  void allocated(std::uint32_t /*slot*/, const object& o) override {
    if (o.region != 0) return;
    over_time_.advance(o.allocation_time, alive_);
    ++allocations_;
    bytes_ += o.size;
    held_.add(o.address, o.size);
    alive_.live_bytes += o.size;
    ++alive_.live_objects;
    alive_.held_bytes = held_.bytes();
    over_time_.allocation(alive_);
    if (alive_.live_bytes <= peak_.live_bytes) return;
    peak_ = {.event = o.allocation,
             .time = o.allocation_time,
             .live_bytes = alive_.live_bytes,
             .live_objects = alive_.live_objects};
  }
  void freed(std::uint32_t /*slot*/, const object& o) override {
    if (o.region != 0) return;
    over_time_.advance(o.free_time, alive_);
    held_.remove(o.address, o.size);
    alive_.live_bytes -= o.size;
    --alive_.live_objects;
    alive_.held_bytes = held_.bytes();
  }
  void leaked(std::uint32_t /*slot*/, const object& /*o*/) override {}

  // The journal ends at `time`, in ns.
  void finish(std::uint64_t time) { over_time_.advance(time, alive_); }

  struct moment {
    std::uint64_t event = 0;
    std::uint64_t time = 0;  // ns
    std::uint64_t live_bytes = 0;
    std::uint64_t live_objects = 0;
  };

  [[nodiscard]] std::uint64_t allocations() const noexcept { return allocations_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] const moment& peak() const noexcept { return peak_; }  // the first with the most live bytes
  [[nodiscard]] const timeline_builder::state& alive() const noexcept { return alive_; }
  [[nodiscard]] const timeline& over_time() const noexcept { return over_time_.rows(); }

 private:
  std::uint64_t allocations_ = 0;
  std::uint64_t bytes_ = 0;
  timeline_builder::state alive_;
  held_pages held_;
  moment peak_;
  timeline_builder over_time_;
};

}  // namespace mallard::profile
