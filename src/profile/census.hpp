// census: how groups of objects live and die, found while the journal is read.
//
//     objects --> group of each, by its context or by its thread --> figures of the group
//
// What depends on the order of events is found here: how much of a group is alive at once, in what order
// its objects die, how tightly they lie, and how often its threads meet. Sums and quantiles over finished
// objects are a matter of SQL. Only objects of the malloc family take part.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/watcher.hpp"

namespace mallard::profile {

// Which group an object belongs to: that of its context or of its birth thread.
struct grouping {
  std::vector<std::uint32_t> of_context{};  // empty: by thread. A context beyond the end is of group 0
  std::vector<std::uint32_t> of_thread{};   // empty: by context
  std::uint32_t groups = 0;                 // their number; every group is below
};

// An object's end, one of these. The first that fits, from top to bottom.
//     never         alive at the end of the journal
//     reallocated   ended by a reallocation, which began the next object
//     together      died in a run of at least 8 deaths, with no birth in the group between, after which
//                   nothing of the group was left
//     lifo          the youngest of at least two live objects of the group
//     one_by_one    any other
inline constexpr std::uint64_t shortest_run_together = 8;

struct group_figures {
  std::uint64_t births = 0;
  std::uint64_t bytes = 0;  // requested, all births together
  std::uint64_t max_live_bytes = 0;
  std::uint64_t max_live_objects = 0;
  std::uint64_t max_live_event = 0;  // when max_live_bytes was first reached
  std::uint64_t never = 0;
  std::uint64_t reallocated = 0;
  std::uint64_t together = 0;
  std::uint64_t lifo = 0;
  std::uint64_t one_by_one = 0;
  std::uint64_t active_threads = 0;  // that have allocated or freed in it
  double contention = 0;             // C, as docs/profile.md has it; 0..1
  double overlaps = 0;               // expected pairs of operations at the same time, in all
};

// One moment of compactness: the live bytes of a group over the bytes of the lines (64) and of the pages
// (4096) that hold any of them.
struct compactness {
  std::uint64_t event = 0;
  std::uint64_t live_bytes = 0;
  std::uint64_t line_bytes = 0;
  std::uint64_t page_bytes = 0;
};

// What the first reading of the journal tells the second.
struct census_plan {
  grouping groups{};
  std::vector<double> ns_per_operation{};  // of each group, for contention; empty: contention is not found
  std::uint64_t events = 0;                // of the journal
  std::uint64_t end_time = 0;              // ns, of its last event
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

  // Row g holds group g's moments, those at which something of it was alive.
  [[nodiscard]] const std::vector<std::vector<compactness>>& compactness_over_time() const noexcept {
    return compactness_;
  }

  // The most live bytes of each group in each bucket: [group * buckets + bucket].
  [[nodiscard]] const std::vector<std::uint64_t>& live_bytes_over_time() const noexcept {
    return live_over_time_;
  }

 private:
  std::vector<group_figures> figures_;
  std::vector<std::vector<compactness>> compactness_;
  std::vector<std::uint64_t> live_over_time_;
};

}  // namespace mallard::profile
