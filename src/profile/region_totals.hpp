// region_totals: what was allocated in regions, all of them together.
//
// As a journal's summary counts the malloc family: the columns of the seed's Table 3 for what a program
// allocates in its own regions. Cost: a few ns an event. Seed 002, section 5.
#pragma once

#include <cstdint>

#include "profile/watcher.hpp"

namespace mallard::profile {

class region_totals final : public watcher {
 public:
  struct figures {
    std::uint64_t regions = 0;
    std::uint64_t objects = 0;
    std::uint64_t bytes = 0;              // requested
    std::uint64_t peak_live_bytes = 0;    // alive at once, at most
    std::uint64_t peak_live_objects = 0;  // likewise
  };

  void born(std::uint32_t slot, const object& o) override;
  void died(std::uint32_t slot, const object& o) override;
  void survived(std::uint32_t /*slot*/, const object& /*o*/) override {}
  void region_began(std::uint32_t /*number*/, std::uint32_t /*parent*/, std::uint64_t /*event*/,
                    std::uint32_t /*context*/) override {
    ++all_.regions;
  }

  [[nodiscard]] const figures& all() const noexcept { return all_; }

 private:
  figures all_;
  std::uint64_t live_bytes_ = 0;
  std::uint64_t live_objects_ = 0;
};

}  // namespace mallard::profile
