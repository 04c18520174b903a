// call_stacks: where a call of an entry point came from, as one number.
//
//     caller's frames --walk by .eh_frame--> [ address, address, ... ] --hash--> number
//                                               kept once, for all blocks with that stack
//
// A stack is kept once, however many blocks have it, so each block carries four bytes of one. Walks make no
// call that allocates or locks (unwind/). What is kept stays until the process ends: 8 bytes a frame, and 16.
// Cost of a call: some ns a frame, and a probe of the table. Any thread at any time; a new stack takes a
// lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "mallard/core/attributes.hpp"
#include "malloc/heap_of_thread.hpp"
#include "unwind/frame_rule.hpp"

namespace mallard::malloc_library {

using unwind::walk_start;

// The number of a stack; 0: none is known.
using stack_number = std::uint32_t;

// To be used in an entry point, where its frame is the innermost one.
#define MALLARD_CALLER                                                                                \
  (::mallard::malloc_library::start_at(reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)), \
                                       static_cast<const std::uintptr_t*>(__builtin_frame_address(0))))

[[nodiscard]] MALLARD_INLINE walk_start start_at(std::uintptr_t return_address,
                                                 const std::uintptr_t* frame) noexcept {
  return {return_address, reinterpret_cast<std::uintptr_t>(frame + 2), *frame};
}

// The stack from a call outwards, at most `frames_kept()` frames. Leaves errno alone.
[[nodiscard]] stack_number stack_of(const walk_start& start) noexcept;

// Its addresses, innermost first: of the last byte of each call.
[[nodiscard]] std::span<const std::uintptr_t> frames_of(stack_number stack) noexcept;

// How many frames are kept, at most `most_frames`.
inline constexpr std::size_t most_frames = 64;
void keep_frames(std::size_t count) noexcept;

// A library has been unloaded: what is known of its functions is forgotten.
void forget_functions() noexcept;

// Forgets the words by which stacks are found again: a search for pointers to blocks would find them.
void forget_walks() noexcept;

// Held while the process forks.
extern futex_mutex stacks_mutex;

}  // namespace mallard::malloc_library
