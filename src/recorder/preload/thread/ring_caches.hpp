// ring_caches: what the recorder remembers beside a ring, in private memory of the process.
//
// They belong to the ring, not to the thread, so that one of ten thousand short-lived threads finds what
// the one before it learned. Their owner is the ring's; those of the shared ring are guarded by its lock.
#pragma once

#include <cstdint>

#include "recorder/preload/stack/context_tree.hpp"
#include "recorder/preload/stack/stack_memo.hpp"

namespace mallard::recorder {

inline constexpr std::uint32_t shared_ring = 0;

struct ring_caches {
  context_tree contexts;
  stack_memo stacks;
};

// Those of a ring, made when they are first asked for; null if there is no memory for them.
[[nodiscard]] ring_caches* caches_of_ring(std::uint32_t index) noexcept;

// In a forked child: forgets what refers to the spool of before. What other threads than this one were
// changing cannot be trusted, so of theirs nothing is touched or used again; `whole` (or null) is not theirs.
void forget_ring_caches(ring_caches* whole) noexcept;

}  // namespace mallard::recorder
