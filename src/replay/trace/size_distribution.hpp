// size_distribution: how often each size was asked for, by allocations, callocs and reallocations.
//
//     bytes   0 1 2 ... 16 | 17..20 21..24 25..28 29..32 | 33..40 41..48 49..56 57..64 | 65..80 ...
//     bucket      1        |   four buckets to a doubling
//
// O(ops).
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <vector>

#include "replay/trace/op.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::replay {

struct size_count {
  std::uint64_t from;  // bytes
  std::uint64_t to;    // bytes, inclusive
  std::uint64_t allocations;

  friend bool operator==(const size_count&, const size_count&) = default;
};

namespace detail {

// The bucket of a size, empty.
[[nodiscard]] constexpr size_count bucket_of(std::uint64_t size) noexcept {
  if (size <= 16) return {size, size, 0};
  const std::uint64_t last = size - 1;  // so that a bucket ends with a power of two
  const auto dropped = static_cast<unsigned>(std::bit_width(last)) - 3;
  const std::uint64_t first = last >> dropped << dropped;
  return {first + 1, first + (std::uint64_t{1} << dropped), 0};
}

}  // namespace detail

// In ascending order, those that occur. Of a trace of regions: none.
[[nodiscard]] inline std::vector<size_count> size_distribution(const trace& t) {
  std::map<std::uint64_t, size_count> by_size;
  const auto count = [&](const op& o) {
    if (!is_allocation(o.kind) && o.kind != op_kind::reallocate) return;
    const size_count bucket = detail::bucket_of(o.size);
    ++by_size.try_emplace(bucket.from, bucket).first->second.allocations;
  };
  switch (t.facts().of) {
    case subject::blocks:
      for (const op& o : t.ops()) count(o);
      break;
    case subject::threads:
      for (const thread_part& part : t.threads())
        for (const thread_step& step : t.steps().subspan(part.first_step, part.steps)) count(step.what);
      break;
    case subject::regions:
      break;
  }
  std::vector<size_count> found;
  for (const auto& [from, counted] : by_size) found.push_back(counted);
  return found;
}

}  // namespace mallard::replay
