// The functions of mallard.h about blocks: one, one that changes its size, and many.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>

#include "capi/mallard_heap.hpp"
#include "mallard.h"
#include "mallard/allocator/resize_objects.hpp"
#include "mallard/core/chain.hpp"
#include "mallard/core/resize.hpp"

using mallard::allocation_type;
using mallard::chain;
using mallard::resize_result;
namespace commands = mallard::commands;

namespace {

static_assert(MALLARD_ALLOCATE_NEW == commands::allocate_new && MALLARD_EXPAND_FWD == commands::expand_fwd &&
              MALLARD_EXPAND_BWD == commands::expand_bwd &&
              MALLARD_SHRINK_IN_PLACE == commands::shrink_in_place &&
              MALLARD_NOTHROW_ALLOCATION == commands::nothrow_allocation &&
              MALLARD_TRY_SHRINK_IN_PLACE == commands::try_shrink_in_place);

// Whether it names ways to grow or ways to shrink, and nothing else.
bool is_command(allocation_type command) noexcept {
  const allocation_type ways = command & ~commands::nothrow_allocation;
  const bool grows = (ways & commands::growing) != 0;
  const bool shrinks = (ways & commands::shrinking) != 0;
  return grows != shrinks && (ways & ~(commands::growing | commands::shrinking)) == 0;
}

// The least common multiple of an object's size and its alignment, a power of two; 0 if that is larger than
// any possible move.
std::size_t step_of(std::size_t size, std::size_t align) noexcept {
  constexpr int most = std::numeric_limits<std::size_t>::digits - 8;
  const std::size_t odd = size >> std::countr_zero(size);
  const int shift = std::max(std::countr_zero(size), std::countr_zero(align));
  return static_cast<int>(std::bit_width(odd)) + shift <= most ? odd << shift : 0;
}

// The alignment of blocks requested with `alignment`, a power of two.
constexpr std::size_t given_for(std::size_t alignment) noexcept {
  return std::max<std::size_t>(alignment, MALLARD_ALIGNMENT);
}

// What a chain of C's is to the library. Each holds the blocks of the other as they are.
chain of_library(const mallard_chain& c) noexcept { return {c.first, c.last, c.count}; }

// Appends what `allocate` has put into a chain of the library's, if it says that it has.
template <class Allocate>
bool append(mallard_chain& out, Allocate allocate) noexcept {
  chain fresh;
  if (!allocate(fresh)) return false;
  chain all = of_library(out);
  all.splice_back(fresh);
  out = {all.front(), all.back(), all.size()};
  return true;
}

}  // namespace

void* mallard_heap_allocate(mallard_heap* heap, size_t size) noexcept {
  return heap->allocate(size, MALLARD_ALIGNMENT);
}

void* mallard_heap_allocate_aligned(mallard_heap* heap, size_t alignment, size_t size) noexcept {
  return std::has_single_bit(alignment) ? heap->allocate(size, given_for(alignment)) : nullptr;
}

void mallard_heap_free(mallard_heap* heap, void* block) noexcept {
  if (block != nullptr) heap->deallocate(block);
}

void* mallard_heap_reallocate(mallard_heap* heap, void* block, size_t size) noexcept {
  return heap->reallocate(block, size);
}

size_t mallard_heap_usable_size(const mallard_heap* heap, const void* block) noexcept {
  return block != nullptr ? heap->usable_size(block) : 0;
}

mallard_command_result mallard_heap_allocation_command(mallard_heap* heap, unsigned command,
                                                       size_t object_size, size_t alignment, size_t limit,
                                                       size_t preferred, void* reuse) noexcept {
  if (!is_command(command) || object_size == 0 || !std::has_single_bit(alignment)) return {};
  const std::size_t step = step_of(object_size, alignment);
  if (step == 0) command &= ~MALLARD_EXPAND_BWD;
  const resize_result result = heap->resize(
      command, limit, preferred, reuse, {object_size, given_for(alignment), std::max<std::size_t>(step, 1)});
  return {result.memory.data, result.memory.size / object_size, result.reused};
}

bool mallard_heap_allocate_nodes(mallard_heap* heap, mallard_chain* out, size_t count, size_t size,
                                 size_t alignment, size_t contiguous) noexcept {
  if (!std::has_single_bit(alignment)) return false;
  return append(*out, [=](chain& fresh) {
    return heap->allocate_burst(fresh, count, size, given_for(alignment), contiguous);
  });
}

bool mallard_heap_allocate_arrays(mallard_heap* heap, mallard_chain* out, const size_t* lengths, size_t count,
                                  size_t object_size, size_t alignment, size_t contiguous) noexcept {
  if (!std::has_single_bit(alignment)) return false;
  return append(*out, [=](chain& fresh) {
    return heap->allocate_burst(fresh, lengths, count, object_size, given_for(alignment), contiguous);
  });
}

void mallard_heap_free_chain(mallard_heap* heap, mallard_chain* chain) noexcept {
  mallard::chain ended = of_library(*chain);
  heap->deallocate_burst(ended);
  *chain = MALLARD_CHAIN;
}
