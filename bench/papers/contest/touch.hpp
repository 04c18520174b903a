// touch: increments the first byte of a block, as the paper does after each allocation; part_calls: what
// stands between two calls of a heap that is known to the compiler.
#pragma once

namespace mallard::bench {

// One instruction that reads and writes, so that a fresh page faults once; no compiler takes it away.
inline void touch(void* block) noexcept {
  ++*static_cast<unsigned char*>(block);
  asm volatile("" : : "r"(block) : "memory");
}

// A free and the allocation after it are two calls, in a program at two places: here a compiler that sees
// both would leave out the block's way through the heap, or keep the heap's state in registers.
inline void part_calls() noexcept { asm volatile("" : : : "memory"); }

}  // namespace mallard::bench
