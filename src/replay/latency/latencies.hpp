// latencies: what single operations of one strategy took; plain data, for the page between tool and worker.
//
//     first pass of a process    cold       every operation as it came, the heap fresh
//     K others                   raw        every operation as it came, with what the system did meanwhile
//                                minimum    of each event the lowest of its K times: the algorithm's own,
//                                           its worst case included
//
// Nanoseconds of the call alone, net of the clock's overhead; what is written to a block afterwards is not
// part. Only calls that the program made: frees at the end of a pass, of what it never freed, are not timed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "replay/trace/op.hpp"

namespace mallard::replay {

// What callers tell apart.
enum class operation : std::uint8_t { allocation, deallocation, reallocation, calloc };

inline constexpr std::array all_operations{operation::allocation, operation::deallocation,
                                           operation::reallocation, operation::calloc};

// Precondition: not the second half of a reallocate.
[[nodiscard]] constexpr operation operation_of(op_kind k) noexcept {
  switch (k) {
    case op_kind::deallocate:
      return operation::deallocation;
    case op_kind::reallocate:
    case op_kind::resized_from:
      return operation::reallocation;
    case op_kind::allocate_zeroed:
      return operation::calloc;
    case op_kind::allocate:
    case op_kind::allocate_aligned:
      break;
  }
  return operation::allocation;
}

// In tables and JSON.
[[nodiscard]] constexpr std::string_view name_of(operation o) noexcept {
  switch (o) {
    case operation::allocation:
      return "alloc";
    case operation::deallocation:
      return "free";
    case operation::reallocation:
      return "realloc";
    case operation::calloc:
      return "calloc";
  }
  return "";
}

struct percentiles {
  double min = 0;
  double p25 = 0;
  double p50 = 0;
  double p75 = 0;
  double p90 = 0;
  double p99 = 0;
  double p999 = 0;
  double p9999 = 0;
  double max = 0;

  // The whole distribution: tail[k] is what all but one in 2^(k / 4) operations do not exceed, from the least
  // on to the first k for which that is all of them.
  static constexpr std::size_t steps_per_doubling = 4;
  static constexpr std::size_t most_steps = 32 * steps_per_doubling + 1;  // of less than 2^32 operations
  std::array<double, most_steps> tail{};
  std::size_t tail_count = 0;
};

struct latency_figures {
  std::uint64_t count = 0;  // operations of this kind in a pass; 0: there are no figures
  percentiles raw;
  percentiles minimum;
  percentiles cold;
};

struct slow_operation {
  std::uint64_t op = 0;      // index in the trace
  double ns = 0;             // the lowest of its times
  std::uint64_t faults = 0;  // page faults during the call, in a pass of its own
};

struct latencies {
  static constexpr std::size_t most_worst = 10;

  std::array<latency_figures, all_operations.size()> of;
  std::array<slow_operation, most_worst> worst;  // the slowest first
  std::size_t worst_count = 0;

  [[nodiscard]] latency_figures& operator[](operation o) { return of[static_cast<std::size_t>(o)]; }
  [[nodiscard]] const latency_figures& operator[](operation o) const {
    return of[static_cast<std::size_t>(o)];
  }
};

}  // namespace mallard::replay
