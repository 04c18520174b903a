// statistics_pass: the statistics of several groupings, all in one reading of a journal.
//
//     statistics_pass pass(path, {by_context, by_subsystem});
//     while (pass.advance()) { ... }
//     pass.result(1).figures()
//
// Cost: that of reading and pairing once, and of the statistics of each grouping.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "profile/group_statistics.hpp"
#include "profile/journal_pass.hpp"

namespace mallard::profile {

class statistics_pass {
 public:
  // The plans are of one journal, and have the same `events`: so many are read. Throws journal::error.
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
