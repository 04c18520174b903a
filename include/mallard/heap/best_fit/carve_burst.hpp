// carve_burst: many blocks of boundary tags out of few large free ones.
//
//     [ free .................................................. ]
//     [tag| b ][tag| b ][tag| b ][tag| b ][ free .............. ]     a run: one search, one split
//
// Each block is one of its own afterwards. A run has as many blocks as `contiguous` bytes hold, one at least;
// where the heap has no such run, half as many. Where the caller does not care the heap's rest is used up
// before there is another, so that bursts leave no holes, and their memory is written and read in its order.
// What blocks come back together and lie next to each other, in either order, is joined first and given back
// once. Cost: O(1) a block, about 5 instructions, and an allocation a run. Seed 001, chapter 2.
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>

#include "mallard/core/align.hpp"
#include "mallard/core/boundary_tag.hpp"
#include "mallard/core/chain.hpp"

namespace mallard {

// Bytes of a run where the caller does not care.
inline constexpr std::size_t usual_run = 4096;

// Bytes of a run at most; 0: the caller does not care.
[[nodiscard]] constexpr std::size_t run_bytes(std::size_t contiguous) noexcept {
  return contiguous == 0 ? usual_run : std::min(contiguous, max_request / 4);
}

// A run of blocks, the i-th of sizes(i) bytes, `bytes` together, its data at `align`, appended to `out`;
// false where there is none. Blocks: a coalesce.
template <class Blocks, class Sizes>
[[nodiscard]] bool carve_run(Blocks& blocks, chain& out, std::size_t count, std::size_t bytes,
                             std::size_t align, Sizes sizes) noexcept {
  // With a block more to spare, what remains is one, and none of the run is larger than the others.
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

// Appends `count` blocks of `size` bytes each, tags included, which is a multiple of `align`; false where
// they cannot all be had: `out` then has those that could.
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

// The first block of the chain, out of it, with all of the chain that follow it and are its neighbours, as
// one block; precondition: the chain is not empty, and its first block is one of Blocks.
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
