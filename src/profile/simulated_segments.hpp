// simulated_segments: the segments that a plan's pools would take of the system, and what of them would be
// memory.
//
//     pools --take--> basic_segments, the library's own --> addresses that nothing is ever written to
//           --touch--> [####....|################|..] pages that would be memory   <--purge--'
//
// What comes back stays memory for a while, is joined with its neighbours and serves the next requests. So
// the library's own rules decide, by the journal's time, and no model of them. Where there are no addresses,
// pages are memory while somebody has them. Not synchronised. Cost: 64 bytes and 16 bits a segment, 256 bytes
// more for one that is split.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "mallard/source/address_range.hpp"
#include "mallard/source/segments.hpp"

namespace mallard::profile {

class simulated_segments {
 public:
  static constexpr std::uint64_t page = 4096;
  static constexpr std::uint64_t pages_of_segment = segments::segment_bytes / page;

  simulated_segments() = default;
  simulated_segments(const simulated_segments&) = delete;
  simulated_segments& operator=(const simulated_segments&) = delete;
  ~simulated_segments() { all_.close(); }

  // The time of what happens next, in ns.
  void set_time(std::uint64_t ns) noexcept { milliseconds_ = ns / 1'000'000; }

  // A segment for a slab, or a quarter of one; null if there are no addresses.
  [[nodiscard]] segment* take_slab(bool is_part) {
    const in_force here(*this);
    return is_part ? all_.take_part() : all_.take(1, segment_use::slab);
  }
  // As many as have room for so many pages.
  [[nodiscard]] segment* take_large(std::uint64_t pages) {
    const in_force here(*this);
    return all_.take(segments_for(pages), segment_use::large);
  }
  // Of what comes back, `pages` are in use. If they have been moved elsewhere, none of it is memory.
  void give_back(segment* s, std::uint64_t pages, bool are_moved = false) {
    if (s == nullptr) {
      without_addresses_ -= pages;
      return;
    }
    const in_force here(*this);
    if (are_moved) {
      forget(all_.start_of(s), s->length * segments::segment_bytes);
      s->is_zero = true;
    }
    all_.give_back(s, are_moved ? 0 : segments_for(pages));
  }

  // Pages [from, to) of a span are written to, or are given back to the system.
  void touch(const segment* s, std::uint64_t from, std::uint64_t to) {
    if (s == nullptr) {
      without_addresses_ += to - from;
      return;
    }
    const std::size_t first = page_of(all_.start_of(s));
    if (first + to > is_resident_.size()) is_resident_.resize(std::max(first + to, 2 * is_resident_.size()));
    for (std::size_t i = first + from; i != first + to; ++i)
      if (!is_resident_[i]) is_resident_[i] = true, ++resident_;
  }
  void forget(const segment* s, std::uint64_t from, std::uint64_t to) {
    if (s == nullptr)
      without_addresses_ -= to - from;
    else
      forget(all_.start_of(s) + from * page, (to - from) * page);
  }

  // Pages that are memory; and those of all segments that are in use or have been.
  [[nodiscard]] std::uint64_t resident() const noexcept { return resident_ + without_addresses_; }
  [[nodiscard]] std::uint64_t in_segments() const noexcept {
    const segments_usage now = all_.glance();
    return (now.used + now.dirty) / page + without_addresses_;
  }

 private:
  struct addresses : address_range {
    // What lies behind the tables of entries is never touched, and needs no mapping.
    [[nodiscard]] bool extend(std::byte* from, std::size_t bytes) noexcept {
      return !is_of_tables(from) || address_range::extend(from, bytes);
    }
    void retract(std::byte* from, std::size_t bytes) noexcept {
      if (is_of_tables(from)) address_range::retract(from, bytes);
    }
    [[nodiscard]] bool is_of_tables(const std::byte* p) const noexcept {
      constexpr std::size_t entries_of_segment = 1 + segments::parts;
      return p < begin() + size() / segments::segment_bytes * entries_of_segment * sizeof(segment);
    }
    static void purge(std::byte* from, std::size_t bytes) noexcept { current->forget(from, bytes); }
    static bool move_pages(std::byte*, std::byte*, std::size_t) noexcept { return false; }
    static void renew(std::byte* from, std::size_t bytes) noexcept { purge(from, bytes); }
    static void ask_for_huge_pages(std::byte*, std::size_t) noexcept {}
  };
  struct journal_clock {
    static std::uint64_t now() noexcept { return current->milliseconds_; }
    static std::size_t bytes_between() noexcept { return std::size_t{1} << 16; }
  };
  struct no_mutex {
    void lock() noexcept {}
    void unlock() noexcept {}
  };

  // For what the segments call without a pointer.
  class in_force {
   public:
    explicit in_force(simulated_segments& one) noexcept : before_(std::exchange(current, &one)) {}
    in_force(const in_force&) = delete;
    in_force& operator=(const in_force&) = delete;
    ~in_force() { current = before_; }

   private:
    simulated_segments* before_;
  };

  static std::size_t segments_for(std::uint64_t pages) noexcept {
    return (pages + pages_of_segment - 1) / pages_of_segment;
  }
  [[nodiscard]] std::size_t page_of(const std::byte* p) const noexcept {
    return static_cast<std::size_t>(p - all_.start_of(all_.at(0))) / page;
  }
  void forget(const std::byte* from, std::size_t bytes) noexcept {
    const std::size_t first = page_of(from);
    for (std::size_t i = first; i < std::min(first + bytes / page, is_resident_.size()); ++i)
      if (is_resident_[i]) is_resident_[i] = false, --resident_;
  }

  static inline thread_local simulated_segments* current = nullptr;  // in_force

  basic_segments<no_mutex, addresses, journal_clock> all_;
  std::vector<bool> is_resident_;  // by page
  std::uint64_t resident_ = 0;
  std::uint64_t without_addresses_ = 0;  // pages
  std::uint64_t milliseconds_ = 0;
};

}  // namespace mallard::profile
