// pairing: from events to objects, in one pass, with memory for the live objects only.
//
//     event_batch, event_batch, ... --> pairing --> watcher: allocated, freed ... leaked
//
// - An address that comes back before its free ends the old object then and there (an inversion: threads
//   raced to be recorded); the free that follows belongs to it and ends nothing more, unless it comes a
//   second later (owed_frees, event_batch.hpp). What ended it and which thread did is not known by then: its
//   free_kind is `deallocate`, its free_thread its own.
// - A free of an address that is not live is counted as unmatched. A failed allocation is no object; a
//   failed reallocation leaves its block alive.
// - Blocks of regions are objects of their own, found by region and address. Clearing or destroying a
//   region ends its objects and those of its children, youngest first. An address that comes back in the
//   same region ends the old object by a `region_free`, and no free is owed: regions are reused, not raced
//   for. A region in use that nobody has created begins then; other events of unknown regions say nothing.
//   A region that would move into one inside itself stays where it is.
// - Times and numbers of events never fall: where a journal's do, what went before stands in.
//
// Cost: some tens of ns an event, and 90 to 120 bytes an object alive.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "journal/events/event_batch.hpp"
#include "profile/watcher.hpp"

namespace mallard::profile {

// What was counted on the way; all but the events and the last two are of the malloc family.
struct pairing_counts {
  std::uint64_t events = 0;
  std::uint64_t event_numbers = 0;  // one more than the last event's: events that are lost have one, too
  std::array<std::uint64_t, 256> by_kind{};  // events of each kind
  std::uint64_t failed = 0;  // allocations and reallocations that returned null, or cannot have succeeded
  std::uint64_t unmatched_frees = 0;        // of addresses not live, reallocations of such blocks included
  std::uint64_t inversions = 0;             // addresses seen again before their free
  std::uint64_t impossible_in_regions = 0;  // blocks that cannot have been had
  std::uint64_t circular_moves = 0;         // of regions into what is inside them
};

class pairing {
 public:
  // `watchers` outlive the pairing; each receives every call, in this order. Times of the journal are
  // multiplied by `ns_per_tick`.
  pairing(std::vector<watcher*> watchers, double ns_per_tick);
  ~pairing();
  pairing(const pairing&) = delete;
  pairing& operator=(const pairing&) = delete;

  void add(const journal::event_batch& batch);

  // The journal ends here: what is alive has leaked, oldest first. Emits at most that many at once;
  // false when all have been emitted.
  bool finish(std::size_t at_most = SIZE_MAX);

  [[nodiscard]] const pairing_counts& counts() const noexcept;

  // ns, of the event that is being paired, or of the last one.
  [[nodiscard]] std::uint64_t time() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace mallard::profile
