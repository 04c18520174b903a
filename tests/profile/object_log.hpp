// object_log: a watcher that keeps all that it receives, and holds the pairing to what a watcher may rely on.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <ostream>
#include <span>
#include <vector>

#include "journal/events/batch_of.hpp"
#include "profile/pairing.hpp"
#include "profile/region_instances.hpp"

namespace mallard::profile {

inline void PrintTo(const object& o,
                    std::ostream* to) {  // NOLINT(readability-identifier-naming): GoogleTest's
  *to << "object{allocation " << o.allocation << ", free " << o.free << ", previous " << o.previous
      << ", times " << o.allocation_time << ".." << o.free_time << ", address " << o.address << ", size "
      << o.size << ", alignment " << o.alignment << ", between " << o.between << ", ns " << o.allocation_ns
      << " " << o.free_ns << ", contexts " << o.context << " " << o.free_context << ", threads " << o.thread
      << " " << o.free_thread << ", region " << o.region << ", kinds " << static_cast<unsigned>(o.kind) << " "
      << static_cast<unsigned>(o.free_kind) << ", origin " << static_cast<unsigned>(o.origin) << "}";
}

class object_log final : public watcher {
 public:
  void allocated(std::uint32_t slot, const object& o) override {
    EXPECT_TRUE(alive_.emplace(slot, o).second) << "slot " << slot << " is taken";
    EXPECT_LT(slot, alive_.size() + 4096) << "slots are not dense";
    EXPECT_EQ(o.free, no_event);
    EXPECT_EQ(o.free_kind, journal::event_kind::none);
    EXPECT_EQ(o.between, 0U);
    allocations.push_back(o);
  }
  void freed(std::uint32_t slot, const object& o) override {
    end(slot, o);
    EXPECT_NE(o.free, no_event);
    EXPECT_NE(o.free_kind, journal::event_kind::none);
  }
  void leaked(std::uint32_t slot, const object& o) override {
    end(slot, o);
    EXPECT_EQ(o.free, no_event);
    EXPECT_EQ(o.free_kind, journal::event_kind::none);
  }

  std::vector<object> allocations;  // as they are allocated
  std::vector<object> ends;         // as they are freed; then those that live on

 private:
  void end(std::uint32_t slot, const object& o) {
    const auto found = alive_.find(slot);
    ASSERT_NE(found, alive_.end()) << "nothing is alive in slot " << slot;
    EXPECT_EQ(found->second.allocation, o.allocation);
    alive_.erase(found);
    ends.push_back(o);
  }

  std::map<std::uint32_t, object> alive_;
};

// What comes of a journal.
struct pairs {
  std::vector<object> allocations;
  std::vector<object> ends;
  std::vector<region_instance> regions;
  pairing_counts counts;
  std::uint64_t time = 0;
};

// Pairs these events, in batches of `rows`.
inline pairs pair(std::span<const journal::event> events, double ns_per_tick = 1,
                  std::size_t rows = SIZE_MAX) {
  object_log all;
  region_instances regions;
  pairing objects({&all, &regions}, ns_per_tick);
  for (std::size_t first = 0; first < events.size(); first += std::min(rows, events.size() - first))
    objects.add(journal::batch_of(events.subspan(first, std::min(rows, events.size() - first)), first));
  while (objects.finish(rows)) {
  }
  return {.allocations = std::move(all.allocations),
          .ends = std::move(all.ends),
          .regions = regions.rows(),
          .counts = objects.counts(),
          .time = objects.time()};
}

}  // namespace mallard::profile
