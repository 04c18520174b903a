// timeline: the whole program over time, in about a thousand spans of equal length.
//
//     full:    | a | b | c | d | ... | y | z |        1024 rows of 2^n ns
//     merged:  |   ab  |  cd   | ... |  yz   |         512 rows of 2^(n+1) ns, and room for as many
//
// The end need not be known: spans start at 1 ns, and pairs of them are merged whenever the next moment
// lies behind the last one. What is alive at the start of a span counts in it. Cost: some ns an event.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
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

namespace detail {

template <class Combine>
void merge_rows(std::vector<std::uint64_t>& rows, Combine combine) {
  const std::size_t merged = (rows.size() + 1) / 2;
  for (std::size_t row = 0; row < merged; ++row) {
    const std::uint64_t first = rows[2 * row];
    rows[row] = 2 * row + 1 < rows.size() ? combine(first, rows[2 * row + 1]) : first;
  }
  rows.resize(merged);
}

}  // namespace detail

inline timeline_builder::timeline_builder() { rows_.bucket_ns = 1; }

// The row that `time` falls into becomes the last one; those that are skipped hold what was alive.
inline void timeline_builder::open(std::uint64_t time, const state& before) {
  while (time / rows_.bucket_ns >= most_rows) merge_pairs();
  const std::size_t wanted = time / rows_.bucket_ns + 1;
  if (wanted > rows_.live_bytes.size()) {
    rows_.live_bytes.resize(wanted, before.live_bytes);
    rows_.live_objects.resize(wanted, before.live_objects);
    rows_.held_bytes.resize(wanted, before.held_bytes);
    rows_.allocations.resize(wanted, 0);
  }
  const std::uint64_t row = wanted;
  next_ = row > UINT64_MAX / rows_.bucket_ns ? UINT64_MAX : row * rows_.bucket_ns;
}

inline void timeline_builder::merge_pairs() {
  const auto larger = [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); };
  detail::merge_rows(rows_.live_bytes, larger);
  detail::merge_rows(rows_.live_objects, larger);
  detail::merge_rows(rows_.held_bytes, larger);
  detail::merge_rows(rows_.allocations, std::plus<>());
  rows_.bucket_ns *= 2;
}

inline void timeline_builder::raise(const state& now) {
  const auto to_most = [](std::uint64_t& last, std::uint64_t value) { last = std::max(last, value); };
  to_most(rows_.live_bytes.back(), now.live_bytes);
  to_most(rows_.live_objects.back(), now.live_objects);
  to_most(rows_.held_bytes.back(), now.held_bytes);
}

}  // namespace mallard::profile
