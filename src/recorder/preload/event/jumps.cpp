// The entry points of the longjmp family: where a jump leads, so that a call it leaves is known to be over.
//
//     program -> malloc (marked) -> ... signal -> handler -> longjmp: above the mark, the call is over
//
// A jump_buffer holds registers; glibc mangles the stack pointer and the program counter with a secret of the
// process. Where its layout is not known the target is 0, and only the comparison of frames in call.hpp is
// left.
#include <dlfcn.h>

#include <atomic>
#include <cstdint>

#include "recorder/preload/event/call.hpp"
#include "recorder/preload/thread/thread_state.hpp"

namespace mallard::recorder {
namespace {

// The stack pointer that a jump to `jump_buffer` restores; 0: not known on this machine.
std::uintptr_t target_of_jump(const void* jump_buffer) noexcept {
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

using jump = void(void* buffer, int value);

struct real_jump {
  const char* name;
  std::atomic<jump*> found{nullptr};

  jump* find() noexcept {
    if (jump* known = found.load(std::memory_order_relaxed)) return known;
    found = reinterpret_cast<jump*>(dlsym(RTLD_NEXT, name));
    return found;
  }
};

constinit real_jump plain{"longjmp"};
constinit real_jump underscored{"_longjmp"};
constinit real_jump with_signals{"siglongjmp"};
constinit real_jump checked{"__longjmp_chk"};

// They may be called from signal handlers, where symbols must not be looked up.
[[gnu::constructor]] void find_jumps() noexcept {
  for (real_jump* one : {&plain, &underscored, &with_signals, &checked}) one->find();
}

[[noreturn]] MALLARD_INLINE void leap(real_jump& real_one, void* buffer, int value) noexcept {
  const std::uintptr_t target = target_of_jump(buffer);
  if (target > reinterpret_cast<std::uintptr_t>(self.outermost_call)) {
    self.outermost_call = nullptr;
    abandon_shared_ring();
  }
  self.scopes.open_at(target);
  real_one.find()(buffer, value);
  __builtin_unreachable();
}

}  // namespace
}  // namespace mallard::recorder

using namespace mallard::recorder;

MALLARD_INTERPOSED [[noreturn]] void longjmp(void* buffer, int value) noexcept { leap(plain, buffer, value); }

MALLARD_INTERPOSED [[noreturn]] void _longjmp(void* buffer, int value) noexcept {
  leap(underscored, buffer, value);
}

MALLARD_INTERPOSED [[noreturn]] void siglongjmp(void* buffer, int value) noexcept {
  leap(with_signals, buffer, value);
}

// What a program built with _FORTIFY_SOURCE calls instead.
MALLARD_INTERPOSED [[noreturn]] void __longjmp_chk(void* buffer, int value) noexcept {
  leap(checked, buffer, value);
}
