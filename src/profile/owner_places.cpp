#include "profile/owner_places.hpp"

#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

#include "journal/events/event_batch.hpp"
#include "journal/events/event_source.hpp"
#include "journal/events/table.hpp"
#include "journal/open.hpp"
#include "profile/journal_pass.hpp"
#include "profile/watcher.hpp"

namespace mallard::profile {
namespace {

constexpr std::size_t registers = 6;
constexpr std::uint32_t none = UINT32_MAX;

// The shares of the work that is reading.
constexpr double first_reading = 0.4;
constexpr double readings = 0.8;

// Calls receive(event, words) with each row of the journal's snapshots.
template <class Receive>
void for_each_snapshot(const std::filesystem::path& path, const Receive& receive,
                       const std::function<void(double)>& progress) {
  const std::unique_ptr<journal::event_source> source = journal::open(path);
  source->watch(journal::sections::snapshots, [&](const journal::table& rows) {
    const std::vector<std::uint64_t>* const events = rows.numbers(1);
    std::array<const std::vector<std::uint64_t>*, snapshot_places> columns;
    for (std::size_t place = 0; place < snapshot_places; ++place)
      columns[place] = rows.numbers(static_cast<std::uint16_t>(2 + place));
    std::array<std::uint64_t, snapshot_places> words;
    for (std::size_t row = 0; row < rows.rows; ++row) {
      for (std::size_t place = 0; place < snapshot_places; ++place)
        words[place] = columns[place] != nullptr ? (*columns[place])[row] : 0;
      receive(events != nullptr ? (*events)[row] : 0, words);
    }
  });
  journal::event_batch batch;
  while (source->next(batch)) progress(source->progress());
}

std::uint32_t hash(std::uint64_t word) noexcept {
  word ^= word >> 32;
  word *= 0x9e3779b97f4a7c15U;
  word ^= word >> 29;
  word *= 0xff51afd7ed558ccdU;
  return static_cast<std::uint32_t>(word >> 32);
}

using hashes = std::array<std::uint32_t, snapshot_places>;

// The snapshots, to be found by rising numbers of events.
class known_snapshots {
 public:
  void add(std::uint64_t event, const std::array<std::uint64_t, snapshot_places>& words) {
    if (++in_journal_ > most_snapshots) return;
    order_.emplace_back(event, static_cast<std::uint32_t>(rows_.size()));
    std::ranges::transform(words, rows_.emplace_back().begin(), hash);
  }
  void sort() { std::ranges::sort(order_); }

  // The row of the event's snapshot, or none. Numbers never fall from one call to the next.
  std::uint32_t find(std::uint64_t event) noexcept {
    while (next_ != order_.size() && order_[next_].first < event) ++next_;
    return next_ != order_.size() && order_[next_].first == event ? order_[next_].second : none;
  }

  [[nodiscard]] std::uint64_t in_journal() const noexcept { return in_journal_; }
  [[nodiscard]] std::size_t count() const noexcept { return rows_.size(); }
  [[nodiscard]] const hashes& operator[](std::uint32_t row) const noexcept { return rows_[row]; }

 private:
  std::vector<std::pair<std::uint64_t, std::uint32_t>> order_;  // event, row
  std::vector<hashes> rows_;
  std::uint64_t in_journal_ = 0;
  std::size_t next_ = 0;
};

// A window with fewer than this part of the snapshots of its thread's longest one is short.
constexpr std::uint64_t short_window_share = 8;

// A block with a snapshot, at its allocation or at its free.
struct step {
  std::uint32_t thread;
  std::uint32_t row;
  std::uint64_t event;

  [[nodiscard]] std::pair<std::uint32_t, std::uint64_t> turn() const noexcept { return {thread, event}; }
};

struct group_steps {
  std::vector<step> allocations;  // in their order
  std::vector<step> frees;
  std::uint64_t windows = 0;  // that have some of its allocations
  std::uint64_t blocks = 0;   // with and without a snapshot
};

class step_log final : public watcher {
 public:
  step_log(known_snapshots& snapshots, std::span<const std::uint32_t> group_of_context)
      : snapshots_(&snapshots),
        group_of_context_(group_of_context),
        freed_(snapshots.count()),
        window_of_row_(snapshots.count()),
        thread_of_row_(snapshots.count()) {}

  void allocated(std::uint32_t slot, const object& o) override {
    if (slot >= row_of_slot_.size()) row_of_slot_.resize(slot + std::size_t{1});
    row_of_slot_[slot] = none;
    if (o.region != 0) return;
    const std::uint32_t row = snapshots_->find(o.allocation);
    if (row == none) {
      ++unseen_;
    } else {
      if (std::exchange(unseen_, 0) >= window_gap) ++window_;
      window_of_row_[row] = window_;
      thread_of_row_[row] = o.thread;
      ++snapshots_in_[{o.thread, window_}];
    }
    if (!has_group(o)) return;
    if (o.context >= blocks_of_context_.size()) blocks_of_context_.resize(o.context + std::size_t{1});
    ++blocks_of_context_[o.context];
    if (row == none) return;
    row_of_slot_[slot] = row;
    groups_[group_of(o.context)].allocations.push_back({o.thread, row, o.allocation});
  }
  void freed(std::uint32_t slot, const object& o) override {
    const std::uint32_t row = row_of_slot_[slot];
    if (row == none || journal::is_reallocation(o.free_kind)) return;
    groups_[group_of(o.context)].frees.push_back({o.free_thread, row, o.free});
    freed_[row] = true;
  }
  void leaked(std::uint32_t /*slot*/, const object& /*o*/) override {}

  // By number, when all events have been seen. Only those with snapshots in long windows.
  [[nodiscard]] std::map<std::uint32_t, group_steps>& groups() {
    leave_out_short_windows();
    for (std::uint32_t context = 0; context < blocks_of_context_.size(); ++context) {
      const auto at = groups_.find(group_of(context));
      if (at != groups_.end()) at->second.blocks += std::exchange(blocks_of_context_[context], 0);
    }
    return groups_;
  }
  [[nodiscard]] bool was_freed(const step& s) const { return freed_[s.row]; }
  [[nodiscard]] std::uint32_t window_of(const step& s) const noexcept { return window_of_row_[s.row]; }

 private:
  void leave_out_short_windows() {
    std::map<std::uint32_t, std::uint64_t> longest;  // of each thread
    for (const auto& [at, snapshots] : snapshots_in_)
      longest[at.first] = std::max(longest[at.first], snapshots);
    const auto is_in_short = [&](const step& s) {
      const std::uint32_t thread = thread_of_row_[s.row];
      return snapshots_in_.at({thread, window_of(s)}) * short_window_share < longest.at(thread);
    };
    for (auto& [number, group] : groups_) {
      std::erase_if(group.allocations, is_in_short);
      std::erase_if(group.frees, is_in_short);
      for (std::size_t i = 0; i != group.allocations.size(); ++i)
        group.windows +=
            i == 0 || window_of(group.allocations[i]) != window_of(group.allocations[i - 1]) ? 1 : 0;
    }
  }
  [[nodiscard]] bool has_group(const object& o) const noexcept {
    return group_of_context_.empty() || group_of(o.context) != 0;
  }
  [[nodiscard]] std::uint32_t group_of(std::uint32_t context) const noexcept {
    if (group_of_context_.empty()) return context;
    return context < group_of_context_.size() ? group_of_context_[context] : 0;
  }

  known_snapshots* snapshots_;
  std::span<const std::uint32_t> group_of_context_;
  std::vector<bool> freed_;  // by row
  std::vector<std::uint32_t> window_of_row_;
  std::vector<std::uint32_t> thread_of_row_;                                       // that allocated
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> snapshots_in_;  // of a thread in a window
  std::uint32_t window_ = 0;
  std::uint64_t unseen_ = 0;  // allocations since the last snapshot
  std::vector<std::uint64_t> blocks_of_context_;
  std::vector<std::uint32_t> row_of_slot_;
  std::map<std::uint32_t, group_steps> groups_;
};

// The share of the steps behind another one of their thread that have its word.
double share_in_common(std::span<const step> steps, const known_snapshots& snapshots, std::size_t place) {
  std::uint64_t pairs = 0;
  std::uint64_t equal = 0;
  for (std::size_t i = 1; i < steps.size(); ++i) {
    if (steps[i].thread != steps[i - 1].thread) continue;
    ++pairs;
    equal += snapshots[steps[i].row][place] == snapshots[steps[i - 1].row][place] ? 1 : 0;
  }
  return pairs == 0 ? 0 : static_cast<double>(equal) / static_cast<double>(pairs);
}

// How many blocks of each value came behind each other at most, and how many it has in all.
struct run {
  std::uint64_t longest = 0;
  std::uint64_t now = 0;
  std::uint64_t blocks = 0;
};

std::unordered_map<std::uint32_t, run> runs_of(std::span<const step> steps, const known_snapshots& snapshots,
                                               std::size_t place) {
  std::unordered_map<std::uint32_t, run> runs;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::uint32_t value = snapshots[steps[i].row][place];
    run& of = runs[value];
    const bool goes_on =
        i != 0 && steps[i].thread == steps[i - 1].thread && snapshots[steps[i - 1].row][place] == value;
    of.now = goes_on ? of.now + 1 : 1;
    of.longest = std::max(of.longest, of.now);
    ++of.blocks;
  }
  return runs;
}

// The share of the blocks whose owner a run of frees tells.
double share_told(std::span<const step> frees, std::span<const step> allocations,
                  const known_snapshots& snapshots, std::size_t place) {
  const auto freed = runs_of(frees, snapshots, place);
  const auto allocated = runs_of(allocations, snapshots, place);
  std::uint64_t told = 0;
  for (const auto& [value, of] : freed) {
    const auto blocks = static_cast<double>(of.blocks);
    const double share = blocks / static_cast<double>(frees.size());
    // That a run of at least n blocks of such a share begins at one of them has a chance of share^(n - 1).
    const double by_chance = 1 + std::log(owner_place::luck / blocks) / std::log(share);
    const auto in_order = allocated.find(value);
    if (static_cast<double>(of.longest) > by_chance &&
        (in_order == allocated.end() || of.longest > in_order->second.longest))
      told += of.blocks;
  }
  return static_cast<double>(told) / static_cast<double>(frees.size());
}

void sketch_values(const group_steps& steps, const known_snapshots& snapshots, owner_place& to) {
  std::vector<std::uint32_t> values;
  values.reserve(steps.allocations.size());
  for (const step& s : steps.allocations) values.push_back(snapshots[s.row][to.place]);
  std::ranges::sort(values);
  values.erase(std::ranges::unique(values).begin(), values.end());
  to.sketch.fill(none);
  std::copy_n(values.begin(), std::min(values.size(), to.sketch.size()), to.sketch.begin());
}

// Counts the values and how likely two blocks have the same one.
void count_values(std::vector<std::uint32_t>& values, owner_place& to) {
  std::ranges::sort(values);
  double squares = 0;
  for (std::size_t begin = 0; begin != values.size();) {
    std::size_t end = begin;
    while (end != values.size() && values[end] == values[begin]) ++end;
    const auto share = static_cast<double>(end - begin) / static_cast<double>(values.size());
    squares += share * share;
    ++to.distinct;
    begin = end;
  }
  to.chance = squares;
}

// The values that a place has in all blocks of the group, those too that no snapshot saw.
std::uint64_t estimate_owners(const group_steps& steps, const step_log& log, const known_snapshots& snapshots,
                              std::size_t place) {
  constexpr unsigned bits = 32;
  std::vector<std::uint64_t> seen;  // a value, and a window that has it
  seen.reserve(steps.allocations.size());
  for (const step& s : steps.allocations)
    seen.push_back(std::uint64_t{snapshots[s.row][place]} << bits | log.window_of(s));
  std::ranges::sort(seen);
  seen.erase(std::ranges::unique(seen).begin(), seen.end());
  double values = 0;
  double once = 0;
  double twice = 0;
  for (std::size_t begin = 0; begin != seen.size();) {
    std::size_t end = begin;
    while (end != seen.size() && seen[end] >> bits == seen[begin] >> bits) ++end;
    ++values;
    once += end - begin == 1 ? 1 : 0;
    twice += end - begin == 2 ? 1 : 0;
    begin = end;
  }
  const auto windows = static_cast<double>(steps.windows);
  const double unseen = (windows - 1) / windows * once * (once - 1) / (2 * (twice + 1));
  const double a_block = values / static_cast<double>(steps.allocations.size());
  return static_cast<std::uint64_t>(
      std::llround(std::min(values + unseen, a_block * static_cast<double>(steps.blocks))));
}

// `judged` hears the share of the places now and then.
void judge(std::uint32_t group, group_steps& steps, const step_log& log, const known_snapshots& snapshots,
           std::vector<owner_place>& found, const std::function<void(double)>& judged) {
  const std::uint64_t blocks = steps.frees.size();
  if (blocks < owner_place::least_blocks) return;
  std::ranges::sort(steps.allocations, {}, &step::turn);
  std::ranges::sort(steps.frees, {}, &step::turn);
  std::vector<step> ended;  // the allocations of the blocks that were freed
  std::ranges::copy_if(steps.allocations, std::back_inserter(ended),
                       [&](const step& s) { return log.was_freed(s); });
  const auto first = static_cast<std::ptrdiff_t>(found.size());
  std::vector<std::uint32_t> values;
  for (std::uint32_t place = 0; place < snapshot_places; ++place) {
    judged(static_cast<double>(place) / snapshot_places);
    owner_place one{.group = group, .place = place, .blocks = blocks};
    values.clear();
    for (const step& s : steps.frees) values.push_back(snapshots[s.row][place]);
    count_values(values, one);
    if (one.distinct < 2 || one.distinct * owner_place::least_blocks_a_value > blocks) continue;
    one.together = share_in_common(steps.frees, snapshots, place);
    one.in_order = share_in_common(ended, snapshots, place);
    one.told = share_told(steps.frees, ended, snapshots, place);
    one.owners = estimate_owners(steps, log, snapshots, place);
    sketch_values(steps, snapshots, one);
    found.push_back(one);
  }
  const std::span<owner_place> of_group(found.begin() + first, found.end());
  if (of_group.empty()) return;
  std::ranges::sort(of_group, {}, [](const owner_place& p) { return std::pair(-p.gain(), p.place); });
  const double enough = of_group.front().gain() - owner_place::clearly;
  const auto others = std::ranges::find_if(of_group, [&](const owner_place& p) { return p.gain() < enough; });
  const auto to_take = std::min_element(of_group.begin(), others,
                                        [](const auto& a, const auto& b) { return a.place < b.place; });
  std::rotate(of_group.begin(), to_take, to_take + 1);
}

}  // namespace

std::string name_of_place(std::size_t place) {
  constexpr std::array<const char*, registers> names = {"rbx", "rbp", "r12", "r13", "r14", "r15"};
  return place < registers ? names[place] : "sp+" + std::to_string((place - registers) * 8);
}

owner_places find_owner_places(const std::filesystem::path& path,
                               std::span<const std::uint32_t> group_of_context,
                               const std::function<void(double)>& progress) {
  known_snapshots snapshots;
  for_each_snapshot(
      path, [&](std::uint64_t event, const auto& words) { snapshots.add(event, words); },
      [&](double share) { progress(first_reading * share); });
  owner_places result{.snapshots = snapshots.in_journal()};
  if (snapshots.count() == 0) return result;
  snapshots.sort();

  step_log log(snapshots, group_of_context);
  journal_pass pass(journal::open(path), {&log});
  while (pass.advance()) progress(first_reading + (readings - first_reading) * pass.source().progress());

  double judged = 0;  // snapshots
  for (auto& [group, steps] : log.groups()) {
    const auto weight = static_cast<double>(steps.allocations.size());
    judge(group, steps, log, snapshots, result.found, [&](double share) {
      progress(readings +
               (1 - readings) * (judged + share * weight) / static_cast<double>(snapshots.count()));
    });
    judged += weight;
  }
  progress(1);
  return result;
}

snapshot_columns read_snapshots(const std::filesystem::path& path,
                                const std::function<void(double)>& progress) {
  snapshot_columns all;
  for_each_snapshot(
      path,
      [&](std::uint64_t event, const auto& words) {
        all.event.push_back(event);
        all.words.insert(all.words.end(), words.begin(), words.end());
      },
      progress);
  return all;
}

}  // namespace mallard::profile
