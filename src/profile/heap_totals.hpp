// heap_totals: the whole program's malloc family: how much was allocated, what was alive when.
//
//     born, died --> live bytes, live objects, held pages --> peak, timeline
//
// Cost: some ns an event, and what held_pages takes.
#pragma once

#include <cstdint>

#include "profile/held_pages.hpp"
#include "profile/timeline.hpp"
#include "profile/watcher.hpp"

namespace mallard::profile {

class heap_totals final : public watcher {
 public:
  void born(std::uint32_t slot, const object& o) override;
  void died(std::uint32_t slot, const object& o) override;
  void survived(std::uint32_t /*slot*/, const object& /*o*/) override {}

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
