// Any events at all, paired and counted: objects that make sense, whatever the journal claims.
//
// An event is eight bytes, each of which selects one of its fields: small numbers, so that events meet, and
// among them the largest ones.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <utility>
#include <vector>

#include "journal/events/batch_of.hpp"
#include "profile/group_statistics.hpp"
#include "profile/heap_totals.hpp"
#include "profile/object_stream.hpp"
#include "profile/pairing.hpp"
#include "profile/region_instances.hpp"

namespace mallard::profile {
namespace {

void demand(bool holds) {
  if (!holds) std::abort();
}

// Holds the pairing to what watcher.hpp promises.
class pairing_check final : public watcher {
 public:
  void allocated(std::uint32_t slot, const object& o) override {
    if (slot >= allocations_.size()) allocations_.resize(slot + 1, no_event);
    demand(allocations_[slot] == no_event && o.allocation != no_event && o.free == no_event);
    demand(o.allocation >= last_event_ && o.allocation_time >= last_time_);
    allocations_[slot] = last_event_ = o.allocation;
    last_time_ = o.allocation_time;
    live_bytes += o.region == 0 ? o.size : 0;
  }
  void freed(std::uint32_t slot, const object& o) override {
    end(slot, o);
    demand(o.free > o.allocation && o.free >= last_event_ && o.free_time >= last_time_);
    demand(o.between <= o.free - o.allocation);
    last_event_ = o.free;
    last_time_ = o.free_time;
    live_bytes -= o.region == 0 ? o.size : 0;
  }
  void leaked(std::uint32_t slot, const object& o) override {
    end(slot, o);
    demand(o.free == no_event);
  }
  void region_began(std::uint32_t number, std::uint32_t parent, std::uint64_t /*event*/,
                    std::uint32_t /*context*/) override {
    region_lives_.push_back(true);
    demand(number == region_lives_.size() && parent < number && (parent == 0 || lives(parent)));
  }
  void region_moved(std::uint32_t number, std::uint32_t parent) override {
    demand(lives(number) && (parent == 0 || lives(parent)));
  }
  void region_cleared(std::uint32_t number, std::uint64_t /*event*/) override { demand(lives(number)); }
  void region_ended(std::uint32_t number, std::uint64_t /*event*/) override {
    demand(lives(number));
    region_lives_[number - 1] = false;
  }

  std::uint64_t live_bytes = 0;
  std::uint64_t ends = 0;

 private:
  void end(std::uint32_t slot, const object& o) {
    demand(slot < allocations_.size() && allocations_[slot] == o.allocation);
    demand(o.region == 0 || lives(o.region));
    allocations_[slot] = no_event;
    ++ends;
  }
  bool lives(std::uint32_t number) { return region_lives_.at(number - 1); }

  std::vector<std::uint64_t> allocations_;  // by slot
  std::vector<bool> region_lives_;
  std::uint64_t last_event_ = 0;
  std::uint64_t last_time_ = 0;
};

// Counts what is alive of each group, and holds the statistics to it.
class group_counts final : public watcher {
 public:
  explicit group_counts(grouping groups) : grouping_(std::move(groups)), groups_(grouping_.groups) {}

  void allocated(std::uint32_t /*slot*/, const object& o) override {
    if (o.region != 0) return;
    counts& in = groups_[grouping_.of(o)];
    ++in.allocations;
    in.most_objects = std::max(in.most_objects, ++in.live_objects);
    in.most_bytes = std::max(in.most_bytes, in.live_bytes += o.size);
  }
  void freed(std::uint32_t /*slot*/, const object& o) override {
    if (o.region != 0) return;
    counts& in = groups_[grouping_.of(o)];
    --in.live_objects;
    in.live_bytes -= o.size;
  }
  void leaked(std::uint32_t /*slot*/, const object& /*o*/) override {}

  void demand_of(const group_statistics& found) const {
    demand(found.figures().size() == groups_.size());
    for (std::size_t group = 0; group < groups_.size(); ++group) {
      const group_figures& is = found.figures()[group];
      const counts& in = groups_[group];
      demand(is.allocations == in.allocations && is.never == in.live_objects);
      demand(is.never + is.reallocated + is.together + is.lifo + is.one_by_one == is.allocations);
      demand(is.max_live_objects == in.most_objects && is.max_live_bytes == in.most_bytes);
    }
  }

 private:
  struct counts {
    std::uint64_t allocations = 0;
    std::uint64_t live_objects = 0;
    std::uint64_t live_bytes = 0;
    std::uint64_t most_objects = 0;
    std::uint64_t most_bytes = 0;
  };

  grouping grouping_;
  std::vector<counts> groups_;
};

std::uint64_t select(std::uint8_t byte) {
  constexpr std::array large = {UINT64_MAX,
                                UINT64_MAX - 1,
                                std::uint64_t{1} << 63,
                                std::uint64_t{1} << 47,
                                (std::uint64_t{1} << 47) + 1,
                                std::uint64_t{1} << 32};
  return byte < large.size() ? large[byte] : std::uint64_t{16} * (byte - large.size());
}

journal::event event_of(std::span<const std::uint8_t, 8> bytes, std::uint64_t time) {
  return {.kind = static_cast<journal::event_kind>(bytes[0]),
          .thread = bytes[1] % 4U,
          .context = bytes[1] / 4U,
          .time = time,
          .address = select(bytes[2]),
          .size = select(bytes[3]),
          .old_address = select(bytes[5]),
          .region = select(bytes[6]),
          .parent = select(bytes[5]),
          .duration = select(bytes[7])};
}

void pair(std::span<const std::uint8_t> bytes) {
  std::vector<journal::event> events;
  std::uint64_t time = 0;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8))
    events.push_back(event_of(bytes.first<8>(), time += select(bytes[4])));
  const double ns_per_tick = events.empty() || events.front().context == 0 ? 1 : 1e300;

  const grouping by_context{.of_context = {0, 1, 2, 1}, .groups = 3};
  group_counts counted(by_context);
  group_statistics groups_of_contexts({.groups = by_context,
                                       .ns_per_operation = {10, 1000, 1e18},
                                       .events = events.size(),
                                       .end_time = time,
                                       .moments = 8,
                                       .buckets = 8});
  pairing_check seen;
  column_writer columns(16);
  heap_totals heap;
  region_instances regions;
  pairing objects({&seen, &columns, &heap, &regions, &counted, &groups_of_contexts}, ns_per_tick);
  const std::span<const journal::event> all = events;
  const std::size_t half = all.size() / 2;
  objects.add(journal::batch_of(all.first(half)));
  objects.add(journal::batch_of(all.subspan(half), half + (events.empty() ? 0 : events.back().size)));
  demand(heap.alive().live_bytes == seen.live_bytes);
  while (objects.finish(5)) {
  }
  heap.finish(objects.time());
  groups_of_contexts.finish();

  std::uint64_t rows = 0;
  object_batch batch;
  while (columns.take(batch)) rows += batch.count();
  demand(rows == seen.ends);
  demand(heap.over_time().live_bytes.size() <= timeline_builder::most_rows);
  counted.demand_of(groups_of_contexts);
}

}  // namespace
}  // namespace mallard::profile

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  mallard::profile::pair({data, size});
  return 0;
}
