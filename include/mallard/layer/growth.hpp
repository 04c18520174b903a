// Growth policies: how large the next chunk of a heap is.
//
//     constant        S, S, S ...                       chunks of one size, as the upstream may want them
//     doubling        F, 2F, 4F ... Cap, Cap            few chunks, up to half of them unused
//     proportional    F, F, 2F, 4F ... Step, Step ... 1/Divisor of what is held ... Cap
//                                                       unused at most max(Step, 1/Divisor)
//
// A policy is a type with one static member. It names a wish: a request that needs more gets more, and
// when the upstream cannot give that much, chunk_list asks for half of it, down to the least it needs.
#pragma once

#include <algorithm>
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
    return std::min(Cap, std::max({First, std::min(held, Step), held / Divisor}));
  }
};

}  // namespace mallard
