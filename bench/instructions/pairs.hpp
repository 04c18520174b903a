// pairs: random replacement in an array of live blocks, the loop that most rows are counted in.
//
//     live   [ b | b | b | b | ... | b ]        L blocks of 48 bytes
//                      ^ next slot, at random: deallocate it, allocate another into it
//
// The compiler may assume nothing about memory between operations, nor about a block's address. The
// contestant runs the same loop before it is counted, so that what is counted is its steady state: its
// free lists are in random order, and a heap that only grows has kept memory for all that is to come.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "contestants.hpp"
#include "counted.hpp"

namespace instructions {

inline constexpr std::size_t replacements = 16384;
inline constexpr std::array<std::size_t, 3> live_counts = {1, 64, 4096};

template <class Contestant>
[[gnu::noinline]] void replace(Contestant& heap, std::vector<void*>& live,
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
template <class Contestant>
void restart(Contestant& heap, std::vector<void*>& live) {
  if constexpr (requires { heap.restart(); })
    heap.restart();
  else
    for (void* p : live) heap.deallocate(p);
}

template <class Contestant, class... Args>
void pairs(std::string_view contestant, std::string_view way, Args&&... args) {
  for (const std::size_t count : live_counts) {
    Contestant heap(args...);
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
    tell({"pair", contestant, way, count}, replacements);
    restart(heap, live);
  }
}

}  // namespace instructions
