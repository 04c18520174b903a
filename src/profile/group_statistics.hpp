// group_statistics: how the objects of groups are allocated and freed, found while the journal is read.
//
//     objects --> group of each (grouping) --+--> free_order         one by one, LIFO, together
//                                            +--> contention_meter   which threads meet, and how often
//                                            +--> compactness_meter  how tightly they lie
//                                            +--> live_levels        how much is alive, over time
//
// What depends on the order of events is found here. Sums and quantiles over finished objects are a matter
// of SQL. Only objects of the malloc family take part.
//
// Cost: about 30 ns an object where few groups are busy; 200 bytes a group and 8 a slot, plus what the
// requested parts cost.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "profile/compactness_meter.hpp"
#include "profile/contention_meter.hpp"
#include "profile/free_order.hpp"
#include "profile/live_levels.hpp"
#include "profile/watcher.hpp"

namespace mallard::profile {

// Which group an object belongs to, that of its context or that of its allocating thread.
//
//     of_context  0 1 2 2 2 1 ...        of_thread  0 1 1 1 ...
//                 |     group of context 3             |  group of thread 1
//
// Exactly one of the two is used. Its entries are below `groups`; what has no entry is of group 0.
struct grouping {
  std::vector<std::uint32_t> of_context{};  // empty: by thread
  std::vector<std::uint32_t> of_thread{};   // empty: by context
  std::uint32_t groups = 0;                 // their number

  [[nodiscard]] std::uint32_t of(const object& o) const noexcept {
    const bool by_context = !of_context.empty();
    const std::vector<std::uint32_t>& table = by_context ? of_context : of_thread;
    const std::uint32_t index = by_context ? o.context : o.thread;
    return index < table.size() ? table[index] : 0;
  }
};

struct group_figures {
  std::uint64_t allocations = 0;
  std::uint64_t bytes = 0;  // requested, all allocations together
  std::uint64_t max_live_bytes = 0;
  std::uint64_t max_live_objects = 0;
  std::uint64_t max_live_event = 0;  // when max_live_bytes was first reached

  // An object's end is one of these. The first that fits, from top to bottom.
  std::uint64_t never = 0;        // alive at the end of the journal
  std::uint64_t reallocated = 0;  // ended by a reallocation, which began the next object
  std::uint64_t together = 0;     // these three as free_order tells them apart
  std::uint64_t lifo = 0;
  std::uint64_t one_by_one = 0;

  std::uint64_t active_threads = 0;  // that have allocated or freed in it
  double contention = 0;             // C, as docs/profile.md has it; 0..1
  double overlaps = 0;               // expected pairs of operations at the same time, in all
};

// What the first reading of the journal tells the second.
struct statistics_plan {
  grouping groups{};
  std::vector<double> ns_per_operation{};  // of each group, for contention; empty: contention is not found
  std::uint64_t events = 0;                // of the journal
  std::uint64_t end_time = 0;              // ns, when the last bucket ends
  std::uint32_t moments = 0;               // how often compactness is looked at, evenly over the events
  std::uint32_t buckets = 0;               // of equal time, for live_bytes_over_time
};

class group_statistics final : public watcher {
 public:
  explicit group_statistics(statistics_plan plan);

  void allocated(std::uint32_t slot, const object& o) override;
  void freed(std::uint32_t slot, const object& o) override;
  void leaked(std::uint32_t slot, const object& o) override;

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
  free_order order_;
  contention_meter contention_;
  compactness_meter compactness_;
  live_levels levels_;
};

}  // namespace mallard::profile
