// litter: a heap made as long use leaves it, before something is measured in it.
//
//     fresh      [                                                ]
//     allocate   [aa|bbbb|a|ccccccc|bbbb|aa|bbbb|a|ccccccc|aa|... ]   times x live blocks, in random order
//     free       [aa|    |a|ccccccc|    |aa|bbbb| |ccccccc|aa|... ]   one in `times`, in random order
//     measure    [aa|xxx |a|ccccccc|yyyy|aa|bbbb|z|ccccccc|aa|... ]   in the holes
//
// A fresh heap packs blocks one after another, which flatters every malloc: programs that run for a long time
// find holes. Littering is the method of van Kempen and Berger (Reconsidering "Reconsidering Custom Memory
// Allocation", 2026, arXiv 2605.17119): blocks of the sizes that the work asks for, as many as it has alive
// at its most or a multiple, of which a random share is freed.
//
// The share: one block in `times` is freed, so that there is a hole for each block that the work has alive
// at its most. It finds room among the litter and no wide free area beside it, and `times` says how far apart
// its blocks lie: of 10 neighbours 9 are litter. Never more than half are freed, beyond which holes would run
// together and the litter would be the exception; so with `times` = 1 there are holes for half of the work.
// (The published tool, by default 20 times with 5 % freed, makes a hole a live block, too.)
//
// Invariant: each size has its weight's part of the blocks, to within one; the same plan makes the same calls
// in every process. Every byte of a block is written, so that all litter is resident; what is left stays
// allocated, also beyond the litter's own end, until it is taken away or the process ends. The list of
// blocks is memory of the harness's own, never of the heap's. Cost: two random accesses to the list, an
// allocation and a memset a block, 16 bytes of list.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "harness/mapping.hpp"

namespace mallard::harness {

// A size, and its share of the blocks: its weight over the sum of all weights.
struct size_weight {
  std::size_t size;
  std::size_t weight;
};

struct litter_plan {
  std::span<const size_weight> sizes;  // weights together below 2^32
  std::size_t live = 0;                // blocks that the measured work has alive at its most
  std::size_t times = 0;               // as many blocks are allocated; 0: none, the heap stays fresh
  std::uint64_t seed = 1;
};

// One block in this number is freed.
[[nodiscard]] constexpr std::size_t one_freed_in(std::size_t times) noexcept {
  return std::max<std::size_t>(times, 2);
}

// What is littered. Neither call throws; allocate returns null when memory has run out.
struct heap_calls {
  void* heap;
  void* (*allocate)(void* heap, std::size_t size);
  void (*deallocate)(void* heap, void* p, std::size_t size);
};

// The malloc of this process, which operator new stands on.
[[nodiscard]] heap_calls calls_of_malloc() noexcept;

class litter {
 public:
  struct block {
    void* data;
    std::size_t size;
  };

  // Litters the heap at once.
  litter(const heap_calls& heap, const litter_plan& plan);
  litter(const litter&) = delete;
  litter& operator=(const litter&) = delete;

  // Why the heap is not littered, and holds nothing of this; null if it is.
  [[nodiscard]] const char* shortage() const noexcept { return shortage_; }

  // What is allocated still, in no order.
  [[nodiscard]] std::span<const block> left() const noexcept { return left_; }

  // Whether what is left has the contents that were written to it. O(bytes).
  [[nodiscard]] bool is_intact() const noexcept;

  // Frees what is left.
  void take_away() noexcept;

 private:
  // Gives each of `blocks` its size.
  static void share_out(std::span<block> blocks, const litter_plan& plan) noexcept;
  // How many blocks the heap could give, from the first on.
  [[nodiscard]] std::size_t allocate(std::span<block> blocks) noexcept;
  void deallocate(std::span<const block> blocks) noexcept;

  heap_calls heap_;
  scratch memory_;  // of the list
  std::span<block> left_;
  const char* shortage_ = nullptr;
};

}  // namespace mallard::harness
