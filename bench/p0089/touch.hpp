// touch: increments the first byte of a block, as the paper does after each allocation.
#pragma once

namespace mallard::p0089 {

// One instruction that reads and writes, so that a fresh page faults once; no compiler takes it away.
inline void touch(void* block) noexcept {
  ++*static_cast<unsigned char*>(block);
  asm volatile("" : : "r"(block) : "memory");
}

}  // namespace mallard::p0089
