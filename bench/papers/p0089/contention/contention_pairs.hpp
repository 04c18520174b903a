// run_pairs: one block after the other, each freed before the next is allocated; one pass of one thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "contest/touch.hpp"
#include "contest/way/pmr.hpp"

namespace mallard::bench {

// Life: the life of a way.
template <class Life>
void run_pairs(Life& life, std::uint64_t pairs, std::size_t size) {
  constexpr std::size_t alignment = alignof(std::max_align_t);
  for (std::uint64_t i = 0; i < pairs; ++i) {
    void* const block = life.allocate(size, alignment);
    touch(block);
    life.deallocate(block, size, alignment);
    part_calls();
  }
}

// The same through std::pmr, compiled where no resource is known.
void run_pairs(pmr_way::life& life, std::uint64_t pairs, std::size_t size);

}  // namespace mallard::bench
