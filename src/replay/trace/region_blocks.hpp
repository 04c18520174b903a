// region_blocks: which blocks are alive in which region, while a trace of regions is walked.
//
//     region --> youngest <--> older <--> oldest        by slots
//
// Kept in memory of the harness's own. Cost: O(1) a block, nothing a region.
#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/mapping.hpp"
#include "replay/trace/op.hpp"

namespace mallard::replay {

class region_blocks {
 public:
  struct block {
    void* data = nullptr;
    std::uint64_t seed = 0;  // 0: no live block in this slot
    std::uint64_t size = 0;

   private:
    friend class region_blocks;
    std::uint32_t region = 0;
    std::uint32_t older = 0;  // slots from 1; 0: none
    std::uint32_t younger = 0;
  };

  region_blocks(std::size_t blocks, std::size_t regions)
      : block_memory_(blocks * sizeof(block), harness::fill::at_first_touch),
        region_memory_(regions * sizeof(std::uint32_t), harness::fill::at_first_touch),
        blocks_(static_cast<block*>(block_memory_.data())),
        youngest_(static_cast<std::uint32_t*>(region_memory_.data())) {}

  [[nodiscard]] const block& operator[](std::uint32_t slot) const noexcept { return blocks_[slot]; }

  // Precondition: no live block in o.block(); `seed` is not 0.
  void add(const region_op& o, void* data, std::uint64_t seed) {
    block& b = blocks_[o.block()];
    b.data = data;
    b.seed = seed;
    b.size = o.size();
    b.region = o.region();
    b.older = youngest_[b.region];
    b.younger = 0;
    youngest_[b.region] = o.block() + 1;
    if (b.older != 0) blocks_[b.older - 1].younger = o.block() + 1;
  }

  // The block in this slot ends; it is alive.
  void remove(std::uint32_t slot) {
    block& b = blocks_[slot];
    (b.younger == 0 ? youngest_[b.region] : blocks_[b.younger - 1].older) = b.older;
    if (b.older != 0) blocks_[b.older - 1].younger = b.younger;
    b.seed = 0;
  }

  // Calls f(slot, block) for each block of the region, youngest first, and ends it. Stops at the first for
  // which `f` is false, and is false then itself.
  template <class F>
  bool end_all(std::uint32_t region, F f) {
    while (youngest_[region] != 0) {
      const std::uint32_t slot = youngest_[region] - 1;
      if (!f(slot, blocks_[slot])) return false;
      remove(slot);
    }
    return true;
  }

 private:
  harness::scratch block_memory_;
  harness::scratch region_memory_;
  block* blocks_;
  std::uint32_t* youngest_;  // by region: a slot from 1, or 0
};

}  // namespace mallard::replay
