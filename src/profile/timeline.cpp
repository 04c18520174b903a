#include "profile/timeline.hpp"

#include <algorithm>

namespace mallard::profile {
namespace {

template <class Combine>
void merge(std::vector<std::uint64_t>& rows, Combine combine) {
  const std::size_t merged = (rows.size() + 1) / 2;
  for (std::size_t row = 0; row < merged; ++row) {
    const std::uint64_t first = rows[2 * row];
    rows[row] = 2 * row + 1 < rows.size() ? combine(first, rows[2 * row + 1]) : first;
  }
  rows.resize(merged);
}

std::uint64_t larger(std::uint64_t a, std::uint64_t b) { return std::max(a, b); }
std::uint64_t sum(std::uint64_t a, std::uint64_t b) { return a + b; }

}  // namespace

timeline_builder::timeline_builder() { rows_.bucket_ns = 1; }

// The row that `time` falls into becomes the last one; those that are skipped hold what was alive.
void timeline_builder::open(std::uint64_t time, const state& before) {
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

void timeline_builder::merge_pairs() {
  merge(rows_.live_bytes, larger);
  merge(rows_.live_objects, larger);
  merge(rows_.held_bytes, larger);
  merge(rows_.allocations, sum);
  rows_.bucket_ns *= 2;
}

void timeline_builder::raise(const state& now) {
  const auto to_most = [](std::uint64_t& last, std::uint64_t value) { last = std::max(last, value); };
  to_most(rows_.live_bytes.back(), now.live_bytes);
  to_most(rows_.live_objects.back(), now.live_objects);
  to_most(rows_.held_bytes.back(), now.held_bytes);
}

}  // namespace mallard::profile
