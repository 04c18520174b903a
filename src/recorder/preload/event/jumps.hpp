// jumps: where a longjmp leads, so that a call it leaves is known to be over.
//
//     program -> malloc (marked) -> ... signal -> handler -> longjmp: above the mark, the call is over
//
// A jump_buffer holds registers; glibc mangles the stack pointer and the program counter with a secret of the
// process. Where its layout is not known the target is 0, and only the comparison of frames in call.hpp is
// left.
#pragma once

#include <cstdint>

namespace mallard::recorder {

// The stack pointer that a jump to `jump_buffer` restores; 0: not known on this machine.
[[nodiscard]] inline std::uintptr_t target_of_jump(const void* jump_buffer) noexcept {
#if defined(__x86_64__) && defined(__GLIBC__)
  std::uintptr_t mangled =  // changed below  NOLINT(misc-const-correctness)
      static_cast<const std::uintptr_t*>(jump_buffer)[6];
  __asm__("ror $17, %0\n\txor %%fs:0x30, %0" : "+r"(mangled) : : "cc");
  return mangled;
#else
  static_cast<void>(jump_buffer);
  return 0;
#endif
}

}  // namespace mallard::recorder
