// live_sizes: the sizes of the blocks alive at a trace's moment of most live bytes, counted.
//
//     ops [first, max_live_op] --> slot: size --sort--> 16 x 310 | 48 x 1200 | 4096 x 3
//
// What littering draws from: with the number of blocks at that very moment, so that K times the litter is K
// times the most live bytes. Kept in memory of the harness's own. O(ops), and a sort of what is alive.
#pragma once

#include <cstddef>
#include <span>

#include "harness/litter.hpp"
#include "harness/mapping.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::replay {

class live_sizes {
 public:
  explicit live_sizes(const trace& t);

  // By size, each once; the weight is the number of blocks.
  [[nodiscard]] std::span<const harness::size_weight> sizes() const noexcept { return sizes_; }

  // Of blocks.
  [[nodiscard]] std::size_t count() const noexcept { return count_; }

 private:
  harness::scratch memory_;
  std::span<harness::size_weight> sizes_;
  std::size_t count_ = 0;
};

}  // namespace mallard::replay
