// dlopen and dlclose.
//
// dlclose is the one way by which a module goes, and so the moment to say what was there and what is gone.
// dlopen is passed on with a jump, so that the loader sees who calls it: whose search path and whose $ORIGIN
// count. A module that is opened with RTLD_DEEPBIND finds libc's functions before this library's, which the
// spool says.
#include <dlfcn.h>

#include "recorder/preload/event/call.hpp"
#include "recorder/preload/process/real_process.hpp"
#include "recorder/preload/spool/spool_lists.hpp"

using namespace mallard::recorder;

MALLARD_INTERPOSED int dlclose(void* handle) noexcept {
  if (spool_header* spool = current_spool()) list_modules(spool);
  const int result = real_process().dlclose(handle);
  if (spool_header* spool = current_spool()) forget_gone_modules(spool);
  return result;
}

// What dlopen jumps to.
extern "C" [[gnu::visibility("hidden"), gnu::used]] decltype(real_process_functions::dlopen)
mallard_real_dlopen(const char* file, int mode) noexcept {
  if ((mode & RTLD_DEEPBIND) != 0 && file != nullptr && should_record()) {
    spool_header* spool = current_spool();
    if (spool != nullptr && spool->deep_bound == 0) spool->deep_bound = place_of_name(spool, file);
  }
  return real_process().dlopen;
}

#if defined(__x86_64__)
asm(R"(
  .text
  .p2align 4
  .globl dlopen
  .type dlopen, @function
dlopen:
  .cfi_startproc
  push %rdi
  .cfi_adjust_cfa_offset 8
  push %rsi
  .cfi_adjust_cfa_offset 8
  sub $8, %rsp
  .cfi_adjust_cfa_offset 8
  call mallard_real_dlopen
  add $8, %rsp
  .cfi_adjust_cfa_offset -8
  pop %rsi
  .cfi_adjust_cfa_offset -8
  pop %rdi
  .cfi_adjust_cfa_offset -8
  jmp *%rax
  .cfi_endproc
  .size dlopen, . - dlopen
)");
#elif defined(__aarch64__)
asm(R"(
  .text
  .p2align 4
  .globl dlopen
  .type dlopen, %function
dlopen:
  .cfi_startproc
  stp x29, x30, [sp, #-32]!
  .cfi_adjust_cfa_offset 32
  .cfi_rel_offset x29, 0
  .cfi_rel_offset x30, 8
  stp x0, x1, [sp, #16]
  bl mallard_real_dlopen
  mov x16, x0
  ldp x0, x1, [sp, #16]
  ldp x29, x30, [sp], #32
  .cfi_restore x30
  .cfi_restore x29
  .cfi_adjust_cfa_offset -32
  br x16
  .cfi_endproc
  .size dlopen, . - dlopen
)");
#endif
