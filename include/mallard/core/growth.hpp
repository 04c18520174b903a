// Growth policies: how large the next chunk of a heap is.
//
//     constant        S, S, S ...                       chunks of one size, as the upstream may want them
//     doubling        F, 2F, 4F ... Cap, Cap            few chunks, up to half of them unused
//     proportional    F, F, 2F, 4F ... Step, Step ... 1/Divisor of what is held ... Cap
//                                                       unused at most max(Step, 1/Divisor)
//     beginning       First, then another policy's      room at the start for what grows where it is
//     in_few_sizes    another policy's, rounded         so that chunks that went back fit again
//
// A policy is a type with one static member. It names the preferred size of the next chunk. A larger request
// gets a larger chunk; if the upstream cannot provide the preferred size, allocate_halving asks for half of
// it, and so on down to what the request needs.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>

#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/concepts.hpp"

namespace mallard {

// size_t next(newest, held)   bytes of the next chunk, its header included, where the newest one has
//                             `newest` bytes and all together `held`; both 0 at the start
template <class G>
concept growth_policy = requires(std::size_t newest, std::size_t held) {
  { G::next(newest, held) } noexcept -> std::same_as<std::size_t>;
};

// Suggested if the upstream serves blocks of one size (a pool of pages), or if unused memory must stay below
// a fixed number of bytes; the number of chunks is proportional to what is held.
template <std::size_t Size>
struct constant {
  static_assert(0 < Size);

  static constexpr std::size_t next(std::size_t, std::size_t) noexcept { return Size; }
};

// Suggested if time counts more than memory: n bytes take O(log n) chunks. The newest chunk is as large as
// all others together, so a heap that keeps its largest chunk soon needs no other.
template <std::size_t First, std::size_t Cap>
struct doubling {
  static_assert(0 < First && First <= Cap);

  static constexpr std::size_t next(std::size_t newest, std::size_t) noexcept {
    return newest > Cap / 2 ? Cap : std::max(First, 2 * newest);
  }
};

// Suggested if memory counts: chunks double up to Step, then grow so that at most 1/Divisor of what is held
// is unused. Doubling what is held takes about 0.7 * Divisor chunks.
template <std::size_t First, std::size_t Step, std::size_t Divisor, std::size_t Cap>
struct proportional {
  static_assert(0 < First && First <= Step && Step <= Cap && 0 < Divisor);

  static constexpr std::size_t next(std::size_t, std::size_t held) noexcept {
    if (held == 0) return First;  // as below, and most heaps need no more
    return std::min(Cap, std::max({First, std::min(held, Step), held / Divisor}));
  }
};

// Suggested if blocks grow in place: a single block can become as large as the first chunk. Untouched pages
// are mapped, not resident.
template <std::size_t First, growth_policy Then>
struct beginning {
  static_assert(0 < First);

  static constexpr std::size_t next(std::size_t newest, std::size_t held) noexcept {
    return held == 0 ? First : Then::next(newest, held);
  }
};

// Suggested if the upstream keeps chunks by size, as a chunk_cache does: a heap that is emptied and refilled
// holds different amounts at each request than before, and would otherwise ask for sizes that were never
// returned. At least four fifths of the other policy's size; four sizes per doubling.
template <growth_policy Of>
struct in_few_sizes {
  static constexpr std::size_t next(std::size_t newest, std::size_t held) noexcept {
    const std::size_t wish = Of::next(newest, held);
    const std::size_t step = std::max<std::size_t>(std::bit_floor(wish) / 4, 1);
    return wish - wish % step;
  }
};

// allocate_halving: as much of a preferred size as the upstream can provide.
//
//     wished  [........................]   null
//             [............]               null
//             [......]                     a block; or `least` bytes, or null
//
// A heap close to its upstream's limit continues with smaller chunks instead of failing. Cost: a request, and
// another one each time the size is halved.

// One request; sets `is_fresh` if it is given.
template <heap Upstream>
MALLARD_INLINE block allocate_wished(Upstream& from, std::size_t size, std::size_t align,
                                     bool* is_fresh) noexcept {
  if (is_fresh == nullptr) return from.allocate(size, align);
  *is_fresh = false;
  if constexpr (tells_fresh<Upstream>) {
    const block memory = from.allocate(size, align, *is_fresh);
    *is_fresh = *is_fresh && static_cast<bool>(memory);
    return memory;
  } else {
    return from.allocate(size, align);
  }
}

// Slow path: the preferred size has already been refused.
template <heap Upstream>
MALLARD_NOINLINE block allocate_halving_slow(Upstream& from, std::size_t wished, std::size_t least,
                                             std::size_t align) noexcept {
  block memory;
  while (!memory && wished != least) {
    wished = std::max(least, wished / 2);
    memory = from.allocate(wished, align);
  }
  return memory;
}

// Returns a block of at least `least` bytes at `align`, of `wished` bytes if possible; null if not even the
// least can be had. Sets `is_fresh`, if it is given: whether the upstream says that the block is
// (tells_fresh). Half of what was wished counts as used, as memory is short. Precondition: least <= wished.
template <heap Upstream>
[[nodiscard]] MALLARD_INLINE block allocate_halving(Upstream& from, std::size_t wished, std::size_t least,
                                                    std::size_t align, bool* is_fresh = nullptr) noexcept {
  const block memory = allocate_wished(from, wished, align, is_fresh);
  if (memory || wished == least) [[likely]]
    return memory;
  return allocate_halving_slow(from, wished, least, align);
}

// Bytes that a heap holds before it has pages populated ahead of their use: one that ends below is not to be
// resident beyond its blocks.
inline constexpr std::size_t populated_from = std::size_t{1} << 20;

}  // namespace mallard
