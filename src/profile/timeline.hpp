// timeline: the whole program over time, in about a thousand spans of equal length.
//
//     full:    | a | b | c | d | ... | y | z |        1024 rows of 2^n ns
//     merged:  |   ab  |  cd   | ... |  yz   |         512 rows of 2^(n+1) ns, and room for as many
//
// The end need not be known: spans start at 1 ns, and pairs of them are merged whenever the next moment
// lies behind the last one. What is alive at the start of a span counts in it. Cost: some ns an event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mallard::profile {

// One row a span of equal time. Only the malloc family counts.
struct timeline {
  std::uint64_t bucket_ns = 0;              // of each row
  std::vector<std::uint64_t> live_bytes;    // the most in it
  std::vector<std::uint64_t> live_objects;  // the most in it
  std::vector<std::uint64_t> held_bytes;    // the most bytes of pages that hold anything alive
  std::vector<std::uint64_t> allocations;   // begun in it
};

class timeline_builder {
 public:
  // What is alive at one moment.
  struct state {
    std::uint64_t live_bytes = 0;
    std::uint64_t live_objects = 0;
    std::uint64_t held_bytes = 0;
  };

  static constexpr std::size_t most_rows = 1024;

  timeline_builder();

  // Goes on to `time`, not before an earlier one; `before` is what has been alive up to it.
  void advance(std::uint64_t time, const state& before) {
    if (time >= next_) open(time, before);
  }

  // One allocation, at the time advanced to; `now` is what is alive with it.
  void allocation(const state& now) {
    raise(now);
    ++rows_.allocations.back();
  }

  // What has been found; to the time advanced to.
  [[nodiscard]] const timeline& rows() const noexcept { return rows_; }

 private:
  void open(std::uint64_t time, const state& before);
  void merge_pairs();
  void raise(const state& now);

  timeline rows_;
  std::uint64_t next_ = 0;  // when the row behind the last one starts
};

}  // namespace mallard::profile
