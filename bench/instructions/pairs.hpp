// pairs: random replacement in an array of live blocks, the loop that most rows are counted in.
//
//     live   [ b | b | b | b | ... | b ]        L blocks of 48 bytes
//                      ^ next slot, at random: deallocate it, allocate another into it
//
// The compiler may assume nothing about memory between operations, nor about a block's address. The
// allocator runs the same loop before it is counted, so that what is counted is its steady state: its
// free lists are in random order, and a heap that only grows has kept memory for all that is to come.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "counted.hpp"
#include "harness/allocator/own_heaps.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/resource/resource.hpp"

namespace instructions {

inline constexpr std::size_t replacements = 16384;
inline constexpr std::array<std::size_t, 3> live_counts = {1, 64, 4096};

template <class Allocator>
[[gnu::noinline]] void replace(Allocator& heap, std::vector<void*>& live,
                               const std::vector<std::uint32_t>& slots) {
  void** const blocks = live.data();
  for (const std::uint32_t slot : slots) {
    heap.deallocate(hidden(blocks[slot]));
    clobber();
    blocks[slot] = hidden(heap.allocate());
    clobber();
  }
}

// Ends all blocks, one by one or at once.
template <class Allocator>
void restart(Allocator& heap, std::vector<void*>& live) {
  if constexpr (requires { heap.restart(); })
    heap.restart();
  else
    for (void* p : live) heap.deallocate(p);
}

template <class Allocator, class... Args>
void pairs_in(std::string_view scenario, std::string_view allocator, std::string_view way, Args&&... args) {
  for (const std::size_t count : live_counts) {
    Allocator heap(args...);
    std::vector<void*> live(count);
    std::mt19937 random(1);
    std::vector<std::uint32_t> slots(replacements);
    for (std::uint32_t& slot : slots) slot = static_cast<std::uint32_t>(random() % count);
    for (int round = 0;; ++round) {
      for (void*& p : live) p = heap.allocate();
      if (round == 3) break;
      replace(heap, live, slots);
      restart(heap, live);
    }
    {
      const counted here;
      replace(heap, live, slots);
    }
    tell({scenario, allocator, way, count}, replacements);
    restart(heap, live);
  }
}

template <class Allocator, class... Args>
void pairs(std::string_view allocator, std::string_view way, Args&&... args) {
  pairs_in<Allocator>("pair", allocator, way, std::forward<Args>(args)...);
}

// One heap in every way to it.
template <class Heap>
void typed_pairs(std::string_view name) {
  pairs<typed<Heap>>(name, "typed");
  pairs<sized<Heap>>(name, "run-time size");
  pairs<aligned<Heap>>(name, "run-time alignment");
  pairs<sized_and_aligned<Heap>>(name, "run-time size and alignment");
}

template <class Heap>
void pairs_of(std::string_view name = mallard::heap_name<Heap>) {
  typed_pairs<Heap>(name);
  pairs<virtually<mallard::resource<Heap>>>(name, "pmr");
}

// Of the library's heaps that are counted in one translation unit.
template <mallard::harness::counted_with Group>
void pairs_of_group() {
  mallard::harness::for_each_own_heap([]<class Line>(Line) {
    if constexpr (Line::group == Group) pairs_of<typename Line::type>();
  });
}

}  // namespace instructions
