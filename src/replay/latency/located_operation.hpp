// located_operation: a slow operation with where it stands in the program: why it may have been slow.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "replay/latency/latencies.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::replay {

struct located_operation : slow_operation {
  std::uint64_t event = 0;  // of the journal, from 0 on
  operation kind = operation::allocation;
  std::uint64_t size = 0;                 // bytes asked for, or that the freed block had
  std::optional<std::uint64_t> old_size;  // of a reallocation
  std::uint64_t live_blocks = 0;          // when the call begins
  std::uint64_t live_bytes = 0;
};

// In the order given; the trace is of blocks. One walk over its ops.
[[nodiscard]] std::vector<located_operation> locate(const trace& t, std::span<const slow_operation> slow);

}  // namespace mallard::replay
