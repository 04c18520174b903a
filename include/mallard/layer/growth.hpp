// Growth policies: how large the next chunk of a heap is.
//
//     constant        S, S, S ...                       chunks of one size, as the upstream may want them
//     doubling        F, 2F, 4F ... Cap, Cap            few chunks, up to half of them unused
//     proportional    F, F, 2F, 4F ... Step, Step ... 1/Divisor of what is held ... Cap
//                                                       unused at most max(Step, 1/Divisor)
//     beginning       First, then another policy's      room at the start for what grows where it is
//     in_few_sizes    another policy's, rounded         so that chunks that went back fit again
//
// A policy is a type with one static member. It names a wish: a request that needs more gets more, and
// when the upstream cannot give that much, chunk_list asks for half of it, down to the least it needs.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>

namespace mallard {

// size_t next(newest, held)   bytes of the next chunk, its header included, where the newest one has
//                             `newest` bytes and all together `held`; both 0 at the start
template <class G>
concept growth_policy = requires(std::size_t newest, std::size_t held) {
  { G::next(newest, held) } noexcept -> std::same_as<std::size_t>;
};

// Suggested where the upstream deals in blocks of one size (a pool of pages), or where what is held may
// exceed what is used by so many bytes and no more; the number of chunks grows with what is held.
template <std::size_t Size>
struct constant {
  static_assert(0 < Size);

  static constexpr std::size_t next(std::size_t, std::size_t) noexcept { return Size; }
};

// Suggested where time counts more than memory: n bytes take O(log n) chunks, and the newest is as large as
// all others, so that a heap that keeps its largest chunk soon needs no other.
template <std::size_t First, std::size_t Cap>
struct doubling {
  static_assert(0 < First && First <= Cap);

  static constexpr std::size_t next(std::size_t newest, std::size_t) noexcept {
    return newest > Cap / 2 ? Cap : std::max(First, 2 * newest);
  }
};

// Suggested where memory counts: chunks double to Step, then add so much that at most 1/Divisor of what is
// held is unused. Doubling what is held takes about 0.7 * Divisor chunks.
template <std::size_t First, std::size_t Step, std::size_t Divisor, std::size_t Cap>
struct proportional {
  static_assert(0 < First && First <= Step && Step <= Cap && 0 < Divisor);

  static constexpr std::size_t next(std::size_t, std::size_t held) noexcept {
    if (held == 0) return First;  // as below, and most heaps need no more
    return std::min(Cap, std::max({First, std::min(held, Step), held / Divisor}));
  }
};

// Suggested where blocks grow in place: what is alone in a heap can become as large as its first chunk. The
// pages that nothing has touched yet are mapped, not resident.
template <std::size_t First, growth_policy Then>
struct beginning {
  static_assert(0 < First);

  static constexpr std::size_t next(std::size_t newest, std::size_t held) noexcept {
    return held == 0 ? First : Then::next(newest, held);
  }
};

// Suggested where the upstream keeps chunks by size, as a chunk_cache does: a heap that is emptied and filled
// again has other amounts held at each of its requests than before, and would wish for sizes that nobody has
// given back. At least four fifths of what the other policy wishes for: one of four sizes a doubling.
template <growth_policy Of>
struct in_few_sizes {
  static constexpr std::size_t next(std::size_t newest, std::size_t held) noexcept {
    const std::size_t wish = Of::next(newest, held);
    const std::size_t step = std::max<std::size_t>(std::bit_floor(wish) / 4, 1);
    return wish - wish % step;
  }
};

}  // namespace mallard
