// summary: what `mallard info` says about a journal, found in one pass over its events.
//
// With objects, their mean size, the most alive at once and the share of the run that memory took, it has the
// columns of the seed's Table 3 (seed 002, section 5).
// Counting needs only a map of the live blocks; memory is bounded by the number of live blocks,
// not of events.
#pragma once

#include <bit>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "journal/events/event_source.hpp"
#include "journal/events/metadata.hpp"
#include "journal/events/process_tables.hpp"

namespace mallard::profile {

struct summary {
  std::string journal{};  // path, as given
  journal::metadata about{};
  std::uint64_t events = 0;
  // By the name of the entry point; only those that occur.
  std::map<std::string, std::uint64_t> events_by_kind{};
  std::uint64_t threads = 0;
  std::uint64_t contexts = 0;  // distinct calling contexts, the unknown one not counted
  // Frames of the recorded stacks, the median over all allocations that have one; 0: none has.
  std::uint64_t stack_depth_median = 0;
  std::uint64_t events_timed = 0;  // how many say how long the call took
  std::map<std::string, double> median_ns_by_kind{};
  // What all calls of the malloc family took, estimated from those that were timed; 0: none was.
  double memory_ns = 0;
  double duration = 0;                  // seconds from the start of recording to the last event
  std::uint64_t objects = 0;            // successful allocations and reallocations
  std::uint64_t bytes = 0;              // requested by all of them
  std::uint64_t peak_live_bytes = 0;    // requested bytes alive at once, at most
  std::uint64_t peak_live_objects = 0;  // blocks alive at once, at most
  std::uint64_t unmatched_frees = 0;    // of blocks whose allocation is not in the journal
  std::uint64_t snapshots = 0;          // of callers' registers and stacks; 0: none were asked for
  std::uint64_t file_bytes = 0;
  std::vector<journal::module_info> modules{};
  std::vector<journal::child_info> children{};
  journal::usage_sample usage{};  // the last one; all zero: none recorded
  std::uint64_t recovered = 0;    // of the events, those that were still in the spool
  bool complete = false;          // the journal has its end, and nothing in it is damaged
  std::vector<std::string> warnings{};
};

// Reads the whole journal at `path`; throws journal::error if nothing of it can be read.
[[nodiscard]] summary summarize(const std::filesystem::path& path);

// Of what `from` has still to deliver; neither the path nor the size of its file is filled in.
[[nodiscard]] summary summarize(journal::event_source& from);

// One JSON object; its members are named as above, those of `about` and `usage` beside the others.
[[nodiscard]] std::string to_json(const summary& s);

// median_counts: how often each number occurred, for the median of many.
//
//     0 1 2 ... 4095 | 4096 4098 ... 8190 | 8192 8196 ... |     numbers that are distinguished
//
// Exact below 4096, from there on to one part in 2048, so that memory is bounded by kinds of numbers and
// not by how many there are.
class median_counts {
 public:
  void add(std::uint64_t number) {
    ++counts_[rounded(number)];
    ++total_;
  }

  [[nodiscard]] std::uint64_t total() const noexcept { return total_; }

  // The lower one of the two in the middle; 0 if there is none.
  [[nodiscard]] std::uint64_t median() const noexcept {
    std::uint64_t below = 0;
    for (const auto& [number, count] : counts_) {
      below += count;
      if (2 * below >= total_) return number;
    }
    return 0;
  }

 private:
  static constexpr int kept_bits = 12;

  [[nodiscard]] static std::uint64_t rounded(std::uint64_t number) noexcept {
    const int more = static_cast<int>(std::bit_width(number)) - kept_bits;
    return more <= 0 ? number : number >> more << more;
  }

  std::map<std::uint64_t, std::uint64_t> counts_;
  std::uint64_t total_ = 0;
};

}  // namespace mallard::profile
