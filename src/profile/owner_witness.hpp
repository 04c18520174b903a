// owner_witness: the register or stack word whose value tells best in which order the blocks of a group of
// contexts end.
//
//     frees of a group, in their order         a a a a b b b b c c ...     word 7: the owner's address
//                                              1 1 1 1 1 1 1 1 1 1         word 2: always the same
//                                              4 9 3 8 7 1 5 2 6 0         word 5: never the same
//
// The blocks of one container end together, and the word that names the container at the call of malloc is
// the same for them. So of a word counts what consecutive frees share beyond chance:
//
//     gain = P(consecutive frees have the same value) - max(chance, P(consecutive allocations do))
//
// where chance is the sum of p^2 over the values of the blocks freed. Where allocations come in the owner's
// order, too, nothing is to be gained: memory is in that order already. A word has at least 2 values, and at
// most an eighth as many as blocks.
//
// Snapshots are samples, so some values may never have been seen. How many there are is Chao's estimate of
// species: d + (m - 1) / m * q1 (q1 - 1) / (2 (q2 + 1)), for d values seen, in m bursts of snapshots; q1 of
// them were seen in one burst, q2 in two.
//
// The snapshots stand behind their events in a journal, so this takes two readings. Cost: some ns an event,
// 216 bytes a snapshot, of which at most `most_snapshots` are kept.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "journal/events/table.hpp"
#include "journal/open.hpp"
#include "profile/journal_pass.hpp"
#include "profile/watcher.hpp"

namespace mallard::profile {

// Registers rbx, rbp, r12 to r15, then words of the stack.
inline constexpr std::size_t witness_places = 26;

// The snapshots of a journal, by event.
class snapshot_rows {
 public:
  static constexpr std::size_t most_snapshots = std::size_t{1} << 20;

  void add(const journal::table& rows) {
    const auto* const events = rows.numbers(1);
    if (events == nullptr && rows.rows != 1) return;
    std::array<const std::vector<std::uint64_t>*, witness_places> columns{};
    for (std::size_t i = 0; i < witness_places; ++i)
      columns[i] = rows.numbers(static_cast<std::uint16_t>(2 + i));
    for (std::size_t row = 0; row < rows.rows && events_.size() < most_snapshots; ++row) {
      events_.push_back(events == nullptr ? 0 : (*events)[row]);
      for (const auto* const column : columns) words_.push_back(column == nullptr ? 0 : (*column)[row]);
    }
  }

  // Puts them into the order of events.
  void sort() {
    order_.resize(events_.size());
    std::iota(order_.begin(), order_.end(), 0U);
    std::ranges::sort(order_, {}, [this](std::uint32_t row) { return events_[row]; });
  }

  [[nodiscard]] std::size_t count() const noexcept { return events_.size(); }
  // Of the snapshot at this place in the order.
  [[nodiscard]] std::uint64_t event(std::size_t place) const noexcept { return events_[order_[place]]; }
  [[nodiscard]] std::uint64_t word(std::size_t place, std::size_t which) const noexcept {
    return words_[witness_places * order_[place] + which];
  }

 private:
  std::vector<std::uint64_t> events_;
  std::vector<std::uint64_t> words_;  // witness_places a row
  std::vector<std::uint32_t> order_;
};

// The best word of one group.
struct witness_found {
  std::uint32_t group = 0;
  std::uint32_t place = 0;      // below witness_places
  std::uint32_t values = 0;     // seen
  std::uint32_t instances = 0;  // estimated
  std::uint32_t snapshots = 0;  // of the group
  double gain = 0;              // 0..1
};

class owner_witness final : public watcher {
 public:
  // Events between two snapshots that begin a new burst.
  static constexpr std::uint64_t burst_gap = 4096;

  // `rows` outlive this, and are in order. `group_of` is by context; 0, and contexts beyond its end: of none.
  // Contexts of a group have the same code between malloc and the owner, so the same word names it.
  owner_witness(const snapshot_rows& rows, std::vector<std::uint32_t> group_of)
      : rows_(&rows), group_of_(std::move(group_of)) {
    for (const std::uint32_t group : group_of_)
      if (group >= of_group_.size()) of_group_.resize(std::size_t{group} + 1);
  }

  void allocated(std::uint32_t slot, const object& o) override {
    while (next_ < rows_->count() && rows_->event(next_) < o.allocation) ++next_;
    if (slot >= row_of_.size()) row_of_.resize(std::max<std::size_t>(slot + 1, 2 * row_of_.size()));
    row_of_[slot] = none;
    if (o.region != 0 || next_ == rows_->count() || rows_->event(next_) != o.allocation) return;
    const std::uint32_t group = group_of(o);
    if (group == 0) return;
    row_of_[slot] = static_cast<std::uint32_t>(next_);
    of_group_[group].allocated.push_back(static_cast<std::uint32_t>(next_));
  }

  void freed(std::uint32_t slot, const object& o) override {
    if (row_of_[slot] == none || journal::is_reallocation(o.free_kind)) return;
    of_group_[group_of(o)].freed.push_back(row_of_[slot]);
  }

  void leaked(std::uint32_t /*slot*/, const object& /*o*/) override {}

  // Of each group whose best word gains at least that much, by group. O(n log n) a word.
  [[nodiscard]] std::vector<witness_found> found(double least_gain) const {
    std::vector<witness_found> all;
    for (std::size_t group = 1; group < of_group_.size(); ++group) {
      witness_found best = best_of(of_group_[group]);
      if (best.gain <= 0 || best.gain < least_gain) continue;
      best.group = static_cast<std::uint32_t>(group);
      all.push_back(best);
    }
    return all;
  }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;
  static constexpr std::size_t fewest = 64;  // snapshots of a group
  static constexpr double better = 0.02;     // than an earlier word, to be taken instead of it

  struct samples {
    std::vector<std::uint32_t> allocated;  // places in rows_, in the order of allocations
    std::vector<std::uint32_t> freed;      // likewise, of frees
  };

  [[nodiscard]] std::uint32_t group_of(const object& o) const noexcept {
    return o.context < group_of_.size() ? group_of_[o.context] : 0;
  }

  [[nodiscard]] witness_found best_of(const samples& of) const {
    witness_found best;
    if (of.allocated.size() < fewest || of.freed.size() < fewest / 2) return best;
    for (std::uint32_t place = 0; place < witness_places; ++place) {
      const std::uint32_t values = values_of(of.allocated, place);
      if (values < 2 || values > of.allocated.size() / 8) continue;
      const double gain =
          same(of.freed, place) - std::max(chance(of.freed, place), same(of.allocated, place));
      if (gain < best.gain + better) continue;
      best = {.place = place,
              .values = values,
              .instances = estimated(of.allocated, place),
              .snapshots = static_cast<std::uint32_t>(of.allocated.size()),
              .gain = gain};
    }
    return best;
  }

  [[nodiscard]] std::vector<std::uint64_t> sorted(const std::vector<std::uint32_t>& rows,
                                                  std::size_t place) const {
    std::vector<std::uint64_t> words;
    words.reserve(rows.size());
    for (const std::uint32_t row : rows) words.push_back(rows_->word(row, place));
    std::ranges::sort(words);
    return words;
  }

  [[nodiscard]] std::uint32_t values_of(const std::vector<std::uint32_t>& rows, std::size_t place) const {
    std::vector<std::uint64_t> words = sorted(rows, place);
    return static_cast<std::uint32_t>(std::ranges::unique(words).begin() - words.begin());
  }

  // How often neighbours have the same word.
  [[nodiscard]] double same(const std::vector<std::uint32_t>& rows, std::size_t place) const {
    std::size_t equal = 0;
    for (std::size_t i = 1; i < rows.size(); ++i)
      equal += rows_->word(rows[i - 1], place) == rows_->word(rows[i], place);
    return static_cast<double>(equal) / static_cast<double>(rows.size() - 1);
  }

  // How often any two do.
  [[nodiscard]] double chance(const std::vector<std::uint32_t>& rows, std::size_t place) const {
    const std::vector<std::uint64_t> words = sorted(rows, place);
    double sum = 0;
    for (auto begin = words.begin(); begin != words.end();) {
      const auto end = std::upper_bound(begin, words.end(), *begin);
      const double share = static_cast<double>(end - begin) / static_cast<double>(words.size());
      sum += share * share;
      begin = end;
    }
    return sum;
  }

  // Values that there are, seen or not.
  [[nodiscard]] std::uint32_t estimated(const std::vector<std::uint32_t>& rows, std::size_t place) const {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> seen;  // word and burst
    std::uint32_t burst = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      burst += i != 0 && rows_->event(rows[i]) - rows_->event(rows[i - 1]) > burst_gap;
      seen.emplace_back(rows_->word(rows[i], place), burst);
    }
    std::ranges::sort(seen);
    seen.erase(std::ranges::unique(seen).begin(), seen.end());
    double values = 0;
    double once = 0;
    double twice = 0;
    for (std::size_t i = 0; i < seen.size();) {
      std::size_t end = i;
      while (end < seen.size() && seen[end].first == seen[i].first) ++end;
      ++values;
      once += end - i == 1 ? 1 : 0;
      twice += end - i == 2 ? 1 : 0;
      i = end;
    }
    const double bursts = burst + 1;
    const double unseen = (bursts - 1) / bursts * once * (once - 1) / (2 * (twice + 1));
    return static_cast<std::uint32_t>(std::min(values + unseen, 1e6));
  }

  const snapshot_rows* rows_;
  std::size_t next_ = 0;               // place in rows_ of the next event that has one
  std::vector<std::uint32_t> row_of_;  // by slot; none: no snapshot
  std::vector<std::uint32_t> group_of_;
  std::vector<samples> of_group_;
};

// Both readings.
class witness_pass {
 public:
  // `group_of` is that of owner_witness. Throws journal::error.
  witness_pass(std::filesystem::path path, std::vector<std::uint32_t> group_of)
      : path_(std::move(path)), source_(journal::open(path_)), witness_(rows_, std::move(group_of)) {
    source_->watch(journal::sections::snapshots, [this](const journal::table& rows) { rows_.add(rows); });
  }
  witness_pass(const witness_pass&) = delete;
  witness_pass& operator=(const witness_pass&) = delete;

  // Reads on for a few ms; false when all has been read. Throws journal::error.
  bool advance() {
    if (pass_) return pass_->advance();
    if (source_->next(events_)) return true;
    rows_.sort();
    if (rows_.count() == 0) return false;
    pass_.emplace(journal::open(path_), std::vector<watcher*>{&witness_});
    return true;
  }

  // The share of the work that has been done, 0..1.
  [[nodiscard]] double progress() const {
    return pass_ ? (1 + pass_->source().progress()) / 2 : source_->progress() / 2;
  }

  // Complete when advance() has returned false.
  [[nodiscard]] const snapshot_rows& snapshots() const noexcept { return rows_; }
  [[nodiscard]] const owner_witness& witness() const noexcept { return witness_; }

 private:
  std::filesystem::path path_;
  std::unique_ptr<journal::event_source> source_;
  journal::event_batch events_;
  snapshot_rows rows_;
  owner_witness witness_;
  std::optional<journal_pass> pass_;
};

}  // namespace mallard::profile
