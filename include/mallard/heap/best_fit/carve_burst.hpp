// carve_burst: carves many blocks from few large free ones.
//
//     [ free .................................................. ]
//     [tag| b ][tag| b ][tag| b ][tag| b ][ free .............. ]     a run: one search, one split
//
// Each block is independent afterwards. A run has as many blocks as fit into `contiguous` bytes, at least
// one; if the heap has no such run, half as many, and so on. Without a preference, the heap's rest block is
// used up before another block, so bursts leave no holes and their memory is accessed in address order. When
// blocks are freed together, adjacent ones in either order are merged first and freed once. Cost: O(1) per
// block, about 5 instructions, and one allocation per run. Seed 001, chapter 2.
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>

#include "mallard/core/align.hpp"
#include "mallard/core/boundary_tag.hpp"
#include "mallard/core/chain.hpp"

namespace mallard {

// The size of a run if the caller has no preference.
inline constexpr std::size_t usual_run = 4096;

// The maximum size of a run; 0: the caller has no preference.
[[nodiscard]] constexpr std::size_t run_bytes(std::size_t contiguous) noexcept {
  return contiguous == 0 ? usual_run : std::min(contiguous, max_request / 4);
}

// Carves a run of blocks, the i-th of sizes(i) bytes, `bytes` together, with its data at `align`, and appends
// it to `out`; false if there is none. Blocks: a coalesce.
template <class Blocks, class Sizes>
[[nodiscard]] bool carve_run(Blocks& blocks, chain& out, std::size_t count, std::size_t bytes,
                             std::size_t align, Sizes sizes) noexcept {
  // With room for one more block, the remainder is always a block, so no block of the run is larger than the
  // others.
  const std::size_t spacious = bytes + boundary_tag::least;
  boundary_tag* const run =
      align <= boundary_tag::granule ? blocks.allocate(spacious) : blocks.allocate_aligned(spacious, align);
  if (run == nullptr) return false;
  blocks.blocks().cut(run, bytes);
  run->resize(sizes(0));
  boundary_tag* b = run;
  for (std::size_t i = 1; i < count; ++i) {
    boundary_tag* const behind = b->at(sizes(i - 1));
    behind->set_used(sizes(i));
    ::new (b->data()) chain::node{static_cast<chain::node*>(behind->data())};
    b = behind;
  }
  ::new (b->data()) chain::node{nullptr};
  chain made(run->data(), b->data(), count);
  out.splice_back(made);
  return true;
}

// Appends `count` blocks of `size` bytes each, tags included, a multiple of `align`. Returns false if not all
// can be had: `out` then has those that could.
template <class Blocks>
[[nodiscard]] bool carve_burst(Blocks& blocks, chain& out, std::size_t count, std::size_t size,
                               std::size_t align, std::size_t contiguous) noexcept {
  const bool takes_the_rest = contiguous == 0 && align <= boundary_tag::granule;
  std::size_t most = std::max<std::size_t>(run_bytes(contiguous) / size, 1);
  while (count != 0) {
    most = std::min(most, count);
    const std::size_t in_rest = takes_the_rest ? blocks.blocks().rest_holds(size) : 0;
    const std::size_t in_run = in_rest == 0 ? most : std::min(most, in_rest);
    if (carve_run(blocks, out, in_run, in_run * size, align, [size](std::size_t) { return size; })) {
      count -= in_run;
    } else {
      most /= 2;
      if (most == 0) return false;
    }
  }
  return true;
}

// Removes the first block of the chain, and the following ones as long as they are adjacent to it, and merges
// them into one block; precondition: the chain is not empty, and its first block is one of Blocks.
[[nodiscard]] inline boundary_tag* take_joined(chain& blocks) noexcept {
  boundary_tag* joined = boundary_tag::of(blocks.pop_front());
  while (!blocks.empty()) {
    boundary_tag* const other = boundary_tag::of(blocks.front());
    if (other->is_from_elsewhere()) break;
    boundary_tag* const both = boundary_tag::merged(joined, other);
    if (both == nullptr) break;
    joined = both;
    static_cast<void>(blocks.pop_front());
  }
  return joined;
}

}  // namespace mallard
