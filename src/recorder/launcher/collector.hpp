// collector: the events of all rings, merged by time, into the journal.
//
//     ring 0   . . . .  |  .           until: events up to here are in their rings for certain
//     ring 1      .     |. . . .
//     ring 2  (idle)    |
//
// An event is published before the program learns of its block, so what happened before another event
// is visible before it. A round takes the clock first, then looks at every ring, then merges up to a
// little before that moment: idle threads hold nothing up. An event stamped long before it was
// published (its thread was not running meanwhile) gets the time of its publication, at latest.
// Invariant: times in the journal never fall. O(log rings) an event, and O(1) while one ring is ahead.
#pragma once

#include <cstdint>
#include <vector>

#include "journal/writer.hpp"
#include "recorder/launcher/context_map.hpp"
#include "recorder/launcher/ring_reader.hpp"
#include "recorder/spool.hpp"

namespace mallard::recorder {

class collector {
 public:
  collector(spool_header* spool, journal::writer& out, module_table& modules);

  // Appends all events up to `until` (ticks since recording began) that were visible when called.
  // Returns the number of records taken.
  std::uint64_t collect(std::uint64_t until);

  // Completes what the journal says about threads that have ended.
  void finish();

  [[nodiscard]] std::uint64_t stalls() const noexcept;
  [[nodiscard]] std::uint64_t stalled_ticks() const noexcept;
  [[nodiscard]] bool damaged() const noexcept;  // whether any ring was overwritten by the program

 private:
  struct ring_turn {
    std::uint64_t time;
    std::uint32_t ring;
    friend bool operator>(const ring_turn& a, const ring_turn& b) noexcept { return a.time > b.time; }
  };

  void take(ring_reader& ring);
  void take_thread_record(ring_reader& ring, const record& what);

  spool_header* spool_;
  std::uint64_t ring_words_;  // noted before the program runs, which could overwrite the spool's
  journal::writer* out_;
  context_map contexts_;
  std::vector<ring_reader> rings_;
  std::vector<ring_turn> turns_;  // heap of the rings that have events to merge, the earliest first
  struct known_thread {
    bool known = false;
    bool ended = false;
    std::uint32_t index = 0;
    journal::thread_info info;
  };
  std::vector<known_thread> threads_;  // by the number the program gave
  std::uint64_t last_time_ = 0;
};

}  // namespace mallard::recorder
