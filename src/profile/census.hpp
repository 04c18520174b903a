// census: how groups of objects live and die, found while the journal is read.
//
//     objects --> group of each (grouping) --+--> death_order        one by one, LIFO, together
//                                            +--> contention_meter   which threads meet, and how often
//                                            +--> compactness_meter  how tightly they lie
//                                            +--> live_levels        how much is alive, over time
//
// What depends on the order of events is found here. Sums and quantiles over finished objects are a matter
// of SQL. Only objects of the malloc family take part.
//
// Cost: about 30 ns an object where few groups are busy; 200 bytes a group and 8 a slot, and what the parts
// that are asked for cost.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "profile/compactness_meter.hpp"
#include "profile/contention_meter.hpp"
#include "profile/death_order.hpp"
#include "profile/grouping.hpp"
#include "profile/live_levels.hpp"
#include "profile/watcher.hpp"

namespace mallard::profile {

struct group_figures {
  std::uint64_t births = 0;
  std::uint64_t bytes = 0;  // requested, all births together
  std::uint64_t max_live_bytes = 0;
  std::uint64_t max_live_objects = 0;
  std::uint64_t max_live_event = 0;  // when max_live_bytes was first reached

  // An object's end is one of these. The first that fits, from top to bottom.
  std::uint64_t never = 0;        // alive at the end of the journal
  std::uint64_t reallocated = 0;  // ended by a reallocation, which began the next object
  std::uint64_t together = 0;     // these three as death_order tells them apart
  std::uint64_t lifo = 0;
  std::uint64_t one_by_one = 0;

  std::uint64_t active_threads = 0;  // that have allocated or freed in it
  double contention = 0;             // C, as docs/profile.md has it; 0..1
  double overlaps = 0;               // expected pairs of operations at the same time, in all
};

// What the first reading of the journal tells the second.
struct census_plan {
  grouping groups{};
  std::vector<double> ns_per_operation{};  // of each group, for contention; empty: contention is not found
  std::uint64_t events = 0;                // of the journal
  std::uint64_t end_time = 0;              // ns, when the last bucket ends
  std::uint32_t moments = 0;               // how often compactness is looked at, evenly over the events
  std::uint32_t buckets = 0;               // of equal time, for live_bytes_over_time
};

class census final : public watcher {
 public:
  explicit census(census_plan plan);

  void born(std::uint32_t slot, const object& o) override;
  void died(std::uint32_t slot, const object& o) override;
  void survived(std::uint32_t slot, const object& o) override;

  // Behind the last event; the results are complete then.
  void finish();

  [[nodiscard]] const std::vector<group_figures>& figures() const noexcept { return figures_; }

  // The moments of each group, those at which something of it was alive: by moment, then by group.
  [[nodiscard]] const std::vector<compactness>& compactness_over_time() const noexcept {
    return compactness_.found();
  }

  // The most live bytes of each group in each bucket: [group * buckets + bucket].
  [[nodiscard]] const std::vector<std::uint64_t>& live_bytes_over_time() const noexcept {
    return levels_.most();
  }

 private:
  struct place {
    std::uint32_t group = 0;
    std::uint32_t slot = 0;
  };

  void enter(const place& at);

  grouping grouping_;
  std::vector<group_figures> figures_;
  std::vector<std::uint64_t> live_bytes_;  // of each group
  std::optional<place> left_;              // by a reallocation, for the object that it begins
  death_order order_;
  contention_meter contention_;
  compactness_meter compactness_;
  live_levels levels_;
};

}  // namespace mallard::profile
