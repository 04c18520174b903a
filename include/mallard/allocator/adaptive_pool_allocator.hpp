// adaptive_pool_allocator<T, Version, NodesPerBlock, MaxFreeBlocks, OverheadPercent>: the seed's allocator.
//
//     std::list<T, adaptive_pool_allocator<T, 1>>                v1 --allocator-----+
//     boost::container::list<T, adaptive_pool_allocator<T>>      v2 --v2_allocator--+--> adaptive_pool_heap&
//
// Nodes come from an adaptive pool of their size, arrays from the heap's best_fit; the heap is named, as with
// all allocators here, and shared by containers of the same form. Version 2 allocates and frees nodes in
// bursts, which are cut straight from slabs. `shared` and `cached` threads: locked<Heap> in the heap's place,
// or allocator<T, synchronized_adaptive_pool> where there are no arrays. Cost: the heap's.
// Seed 001, chapter 3 ("Presenting adaptive_pool").
#pragma once

#include <cstddef>
#include <type_traits>

#include "mallard/allocator/allocator.hpp"
#include "mallard/allocator/v2_allocator.hpp"
#include "mallard/heap/adaptive_multipool.hpp"
#include "mallard/source/default_source.hpp"

namespace mallard {

// The minimum number of blocks per slab, the maximum number of empty slabs that are kept, and the percentage
// of a piece that headers may take; only_alignment: a slab is one piece.
template <std::size_t NodesPerBlock = default_nodes_per_block,
          std::size_t MaxFreeBlocks = free_blocks_in_proportion, std::size_t OverheadPercent = only_alignment>
using adaptive_pool_heap =
    basic_adaptive_multipool<default_source, slab_form<NodesPerBlock, MaxFreeBlocks, OverheadPercent>>;

template <class T, unsigned Version = 2, std::size_t NodesPerBlock = default_nodes_per_block,
          std::size_t MaxFreeBlocks = free_blocks_in_proportion, std::size_t OverheadPercent = only_alignment>
  requires(Version == 1 || Version == 2)
using adaptive_pool_allocator =
    std::conditional_t<Version == 2,
                       v2_allocator<T, adaptive_pool_heap<NodesPerBlock, MaxFreeBlocks, OverheadPercent>>,
                       allocator<T, adaptive_pool_heap<NodesPerBlock, MaxFreeBlocks, OverheadPercent>>>;

}  // namespace mallard
