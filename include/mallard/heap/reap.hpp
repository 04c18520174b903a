// reap: a region and a heap in one: bumps, frees single blocks for reuse, and ends as a whole.
//
//     parent   [tag| b ][tag| b ][tag| free ][tag| b ][tag| rest ......... ]   chunks from 8 KiB
//     child    [tag| b ][tag| b ][tag| b ]^ cursor ...................... ]    chunks of its own
//
// A best_fit that is clear_optimized and nested:
//
//     nested             children end with their parent, or are cleared with it
//     clear_optimized    a cursor moves while nothing is free; a free turns to heap mode, a clear turns back
//     best_fit           tags, bins, joining; small chunks, growing with what is held
//
// So it serves as a region (create, allocate, clear, destroy: O(chunks) and blocks above 128 KiB, never
// O(blocks)), as a general heap (free by pointer, grow in place, bursts), and as both in turn. What it holds
// beyond live blocks is best_fit's, with steps of at most a 32nd of what is held; an empty reap holds
// nothing upstream. A program that gives sizes back, as containers do, does without tags: sized_reap.
// `locked<reap>` serves many threads, as a root without children.
// Cost: while bumping 7 instructions for a block of known size, else best_fit's and ten more; an empty reap
// is made and ended in 50, a child in 69 (./dev instructions), as nothing of heap mode is written before the
// first free. Debug builds validate the heap where many blocks end. Not synchronised:
// a family of reaps counts as one heap. Seed 002, section 8 (Reap).
#pragma once

#include <cstddef>
#include <string_view>

#include "mallard/core/concepts.hpp"
#include "mallard/heap/best_fit.hpp"
#include "mallard/heap/heap_name.hpp"
#include "mallard/layer/clear_optimized.hpp"
#include "mallard/layer/growth.hpp"
#include "mallard/layer/nested.hpp"
#include "mallard/source/default_source.hpp"
#include "mallard/source/shared_upstream.hpp"

namespace mallard {

// Small at first, as many regions are; then so that the mean end of the newest chunk, half of it, is a 64th
// of what is held. 1 MiB at most, where asking for a chunk costs nothing beside its pages.
using reap_growth = proportional<8192, 32768, 32, 1048576>;

template <heap Upstream = default_source, growth_policy Growth = reap_growth,
          std::size_t Largest = best_fit_largest>
using basic_reap = nested<clear_optimized<basic_best_fit<shared_upstream<Upstream>, Growth, Largest>>>;

using reap = basic_reap<>;

template <>
inline constexpr std::string_view heap_name<reap> = "reap";

}  // namespace mallard
