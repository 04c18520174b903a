// region_trace_builder: the region events of a journal in, a trace of regions out, in one pass.
//
//     journal --> profile::pairing --> what lives in which region --> ops on slots
//
// Pairing says what the events mean, as it does for a profile: a move of a region into what is inside
// it is left out there. A strategy is asked for less than a program may have done in two places:
//   moved       a region that is created again while it lives, below another parent, is a root from its
//               creation on, and is destroyed where its last parent's end takes it. Its life is the same,
//               and strategies whose regions cannot move serve it, too
//   never ended what lives at the end of the journal is destroyed at the end of a pass, so that passes repeat
// Blocks of the malloc family are left out, those that a library gets its regions from included.
// Cost: some tens of nanoseconds an event; memory: the trace, about 150 bytes a block alive at once, and 24
// a region.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "journal/events/event_batch.hpp"
#include "journal/events/event_source.hpp"
#include "profile/pairing.hpp"
#include "profile/watcher.hpp"
#include "replay/trace/op.hpp"
#include "replay/trace/places.hpp"
#include "replay/trace/trace.hpp"
#include "replay/trace/trace_writer.hpp"

namespace mallard::replay {

class region_trace_builder final : private profile::watcher {
 public:
  region_trace_builder() : pairing_({this}, 1) {}
  region_trace_builder(const region_trace_builder&) = delete;
  region_trace_builder& operator=(const region_trace_builder&) = delete;

  void add(const journal::event_batch& batch);

  // Destroys what is still alive and hands the trace over; the builder is spent.
  [[nodiscard]] trace finish();

 private:
  struct region {
    std::size_t created = 0;  // index of its op
    std::uint32_t slot = 0;
    std::uint32_t parent = 0;  // its number; 0: a root
    bool moved = false;
    bool alive = true;
  };
  struct block {
    place_table::place place;
    std::uint64_t size = 0;
    std::uint32_t slot = no_slot;  // no_slot: it is left out
    std::uint8_t align_log2 = 0;
  };
  static constexpr std::uint32_t no_slot = UINT32_MAX;

  // Slots that are free again, last in first out, before new ones.
  struct slot_stack {
    std::vector<std::uint32_t> free;
    std::uint32_t used = 0;  // ever

    std::uint32_t take();
  };

  void allocated(std::uint32_t place, const profile::object& o) override;
  void freed(std::uint32_t place, const profile::object& o) override;
  void leaked(std::uint32_t /*place*/, const profile::object& /*o*/) override {}
  void region_began(std::uint32_t number, std::uint32_t parent, std::uint64_t event,
                    std::uint32_t context) override;
  void region_moved(std::uint32_t number, std::uint32_t parent) override;
  void region_cleared(std::uint32_t number, std::uint64_t event) override;
  void region_ended(std::uint32_t number, std::uint64_t event) override;

  region& of(std::uint32_t number) { return regions_[number - 1]; }
  void emit_ended();
  void end_inner(std::size_t count, std::uint32_t cleared);
  void end(std::uint32_t number, region_op_kind how);
  void end_the_rest();
  void emit(const region_op& o) { *ops_.add() = o; }

  profile::pairing pairing_;
  trace_writer<region_op> ops_;
  trace_facts facts_{.of = subject::regions};
  std::vector<region> regions_;  // by number, from 1
  std::vector<block> blocks_;    // by pairing's place
  slot_stack region_slots_;
  slot_stack block_slots_;
  place_table place_table_;
  std::vector<std::uint64_t> places_;  // of the allocations, in order
  std::vector<std::uint32_t> ended_;   // numbers of the regions that one event ended, outer ones first
  std::uint64_t ended_by_ = 0;         // that event
  std::uint64_t live_bytes_ = 0;
  std::uint64_t live_objects_ = 0;
  std::uint64_t live_regions_ = 0;
};

// Reads all of `source` into a trace of its regions.
[[nodiscard]] trace build_region_trace(journal::event_source& source);

}  // namespace mallard::replay
