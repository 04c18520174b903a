// journal_pass: a journal read through pairing, a piece at a time; statistics_pass: the statistics that one
// reading makes.
//
//     journal_pass pass(journal::open(path), {&watcher, ...});
//     while (pass.advance()) { ... }             // room for a progress bar, or for stopping
//
// A piece is a batch of events or, at the end, a number of objects that live on: some ms of work.
//
// A journal may grow while it is read, as its recording goes on. A pass that has to find what an earlier one
// has found is given that number of events, and ends behind them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "journal/events/event_source.hpp"
#include "journal/events/metadata.hpp"
#include "profile/group_statistics.hpp"
#include "profile/pairing.hpp"

namespace mallard::profile {

class journal_pass {
 public:
  static constexpr std::size_t leaks_at_once = std::size_t{1} << 18;

  static constexpr std::uint64_t all_events = UINT64_MAX;

  // `watchers` outlive the pass, which reads this number of events.
  journal_pass(std::unique_ptr<journal::event_source> source, std::vector<watcher*> watchers,
               std::uint64_t events = all_events);

  // Reads on; false when there was nothing left. Throws journal::error, also where the journal ends before
  // the number of events.
  bool advance();

  [[nodiscard]] const journal::event_source& source() const noexcept { return *source_; }

  // The rate that is known when the first events are there; a recording that goes on finds better ones, but
  // all times of one reading have one scale.
  [[nodiscard]] journal::tick_scale clock() const;

  // What has been paired; from the first advance() on.
  [[nodiscard]] const pairing& objects() const { return *pairing_; }

 private:
  // Replaces events_ by the next ones; false when all have been read.
  bool read();

  std::unique_ptr<journal::event_source> source_;
  std::vector<watcher*> watchers_;
  std::optional<double> ns_per_tick_;  // once the first events are there
  std::optional<pairing> pairing_;     // likewise
  journal::event_batch events_;
  std::uint64_t wanted_;  // events
  bool read_ = false;     // all events
  bool emitted_ = false;  // all objects
};

// statistics_pass: the statistics of several groupings, all in one reading of a journal.
//
//     statistics_pass pass(path, {by_context, by_subsystem});
//     while (pass.advance()) { ... }
//     pass.result(1).figures()
//
// Cost: that of reading and pairing once, and of the statistics of each grouping.
class statistics_pass {
 public:
  // The plans are of one journal, and have the same `events`: that number is read. Throws journal::error.
  statistics_pass(const std::filesystem::path& path, std::vector<statistics_plan> plans);

  // Reads on for a few ms; false when the results are complete. Throws journal::error, also where the
  // journal has fewer events than it had.
  bool advance();

  // The share of the work that has been done, 0..1.
  [[nodiscard]] double progress() const { return complete_ ? 1 : pass_.source().progress(); }

  [[nodiscard]] bool complete() const noexcept { return complete_; }

  // Of the grouping with this index.
  [[nodiscard]] const group_statistics& result(std::size_t grouping) const {
    return *statistics_.at(grouping);
  }

 private:
  [[nodiscard]] std::vector<watcher*> watchers() const;

  std::uint64_t events_;
  std::vector<std::unique_ptr<group_statistics>> statistics_;  // which the pass points to
  journal_pass pass_;
  bool complete_ = false;
};

}  // namespace mallard::profile
