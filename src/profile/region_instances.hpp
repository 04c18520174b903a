// region_instances: a row for each region that the program used, by its number, and all of them together.
//
// The totals are the columns of the seed's Table 3 for what a program allocates in its own regions; a
// journal's summary has those of the malloc family. Cost: a few ns an event. Seed 002, section 5.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "profile/watcher.hpp"

namespace mallard::profile {

struct region_instance {
  std::uint64_t created = no_event;  // no_event: before the journal
  std::uint64_t ended = no_event;    // destroyed, or its parent was, or it lived on
  std::uint32_t parent = 0;          // number of the instance, from 1; 0: a root. The last one, if it moved
  std::uint32_t context = 0;         // of its creation
  std::uint64_t clears = 0;
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0;  // requested, all its objects together
  std::uint64_t max_live_bytes = 0;
};

struct region_totals {
  std::uint64_t regions = 0;
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0;              // requested
  std::uint64_t peak_live_bytes = 0;    // alive at once, at most
  std::uint64_t peak_live_objects = 0;  // likewise
};

class region_instances final : public watcher {
 public:
  void allocated(std::uint32_t /*slot*/, const object& o) override {
    if (o.region == 0) return;
    region_instance& row = of(o.region);
    std::uint64_t& live = live_bytes_[o.region - 1];
    ++row.objects;
    row.bytes += o.size;
    live += o.size;
    row.max_live_bytes = std::max(row.max_live_bytes, live);
    ++totals_.objects;
    totals_.bytes += o.size;
    all_live_bytes_ += o.size;
    totals_.peak_live_bytes = std::max(totals_.peak_live_bytes, all_live_bytes_);
    totals_.peak_live_objects = std::max(totals_.peak_live_objects, ++all_live_objects_);
  }
  void freed(std::uint32_t /*slot*/, const object& o) override {
    if (o.region == 0) return;
    live_bytes_[o.region - 1] -= o.size;
    all_live_bytes_ -= o.size;
    --all_live_objects_;
  }
  void leaked(std::uint32_t /*slot*/, const object& /*o*/) override {}
  void region_began(std::uint32_t /*number*/, std::uint32_t parent, std::uint64_t event,
                    std::uint32_t context) override {
    rows_.push_back({.created = event, .parent = parent, .context = context});
    live_bytes_.push_back(0);
    ++totals_.regions;
  }
  void region_moved(std::uint32_t number, std::uint32_t parent) override { of(number).parent = parent; }
  void region_cleared(std::uint32_t number, std::uint64_t /*event*/) override { ++of(number).clears; }
  void region_ended(std::uint32_t number, std::uint64_t event) override { of(number).ended = event; }

  // By number; the first is 1.
  [[nodiscard]] const std::vector<region_instance>& rows() const noexcept { return rows_; }

  [[nodiscard]] const region_totals& totals() const noexcept { return totals_; }

 private:
  region_instance& of(std::uint32_t number) { return rows_[number - 1]; }

  std::vector<region_instance> rows_;
  std::vector<std::uint64_t> live_bytes_;  // of each row
  region_totals totals_;
  std::uint64_t all_live_bytes_ = 0;
  std::uint64_t all_live_objects_ = 0;
};

}  // namespace mallard::profile
