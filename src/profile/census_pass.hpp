// census_pass: the censuses of several groupings, all in one reading of a journal.
//
//     census_pass pass(path, {by_context, by_subsystem});
//     while (pass.advance()) { ... }
//     pass.result(1).figures()
//
// Cost: that of reading and pairing once, and of each census.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "profile/census.hpp"
#include "profile/journal_pass.hpp"

namespace mallard::profile {

class census_pass {
 public:
  // The plans are of one journal, and have the same `events`: so many are read. Throws journal::error.
  census_pass(const std::filesystem::path& path, std::vector<census_plan> plans);

  // Reads on for a few ms; false when the results are complete. Throws journal::error, also where the
  // journal has fewer events than it had.
  bool advance();

  // The share of the work that has been done, 0..1.
  [[nodiscard]] double progress() const { return complete_ ? 1 : pass_.source().progress(); }

  [[nodiscard]] bool complete() const noexcept { return complete_; }

  // Of the grouping with this index.
  [[nodiscard]] const census& result(std::size_t grouping) const { return *censuses_.at(grouping); }

 private:
  [[nodiscard]] std::vector<watcher*> watchers() const;

  std::uint64_t events_;
  std::vector<std::unique_ptr<census>> censuses_;  // which the pass points to
  journal_pass pass_;
  bool complete_ = false;
};

}  // namespace mallard::profile
