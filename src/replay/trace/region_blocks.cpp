#include "replay/trace/region_blocks.hpp"

namespace mallard::replay {

region_blocks::region_blocks(std::size_t blocks, std::size_t regions)
    : block_memory_(blocks * sizeof(block), harness::fill::at_first_touch),
      region_memory_(regions * sizeof(std::uint32_t), harness::fill::at_first_touch),
      blocks_(static_cast<block*>(block_memory_.data())),
      youngest_(static_cast<std::uint32_t*>(region_memory_.data())) {}

void region_blocks::add(const region_op& o, void* data, std::uint64_t seed) {
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

void region_blocks::remove(std::uint32_t slot) {
  block& b = blocks_[slot];
  (b.younger == 0 ? youngest_[b.region] : blocks_[b.younger - 1].older) = b.older;
  if (b.older != 0) blocks_[b.older - 1].younger = b.younger;
  b.seed = 0;
}

}  // namespace mallard::replay
