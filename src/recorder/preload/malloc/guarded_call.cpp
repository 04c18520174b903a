#include "recorder/preload/malloc/guarded_call.hpp"

#include <cstdint>

namespace mallard::recorder {

thread_local constinit const open_event* event_of_new = nullptr;

namespace {

// Of the unwinder's interface, which all C++ runtimes share.
constexpr int clean_up_phase = 2;
constexpr int continue_unwind = 8;

// The failed call is an event; the frames that hold its description still exist.
void leave_by_exception() noexcept {
  const open_event& open = *event_of_new;
  if (current_spool() != nullptr) {
    const stopwatch watch;
    emit_event(open.fields, open.site, watch);
  }
  self.outermost_call = nullptr;
}

}  // namespace
}  // namespace mallard::recorder

using namespace mallard::recorder;

// The personality of mallard_guarded_call's frame.
extern "C" [[gnu::visibility("hidden"), gnu::used]] int mallard_leave_call(int, int actions, std::uint64_t,
                                                                           void*, void*) {
  if ((actions & clean_up_phase) != 0) leave_by_exception();
  return continue_unwind;
}

#if defined(__x86_64__)
asm(R"(
  .text
  .p2align 4
  .globl mallard_guarded_call
  .hidden mallard_guarded_call
  .type mallard_guarded_call, @function
mallard_guarded_call:
  .cfi_startproc
  .cfi_personality 0x1b, mallard_leave_call
  sub $8, %rsp
  .cfi_adjust_cfa_offset 8
  mov %rdi, %rax
  mov %rsi, %rdi
  mov %rdx, %rsi
  mov %rcx, %rdx
  call *%rax
  add $8, %rsp
  .cfi_adjust_cfa_offset -8
  ret
  .cfi_endproc
  .size mallard_guarded_call, . - mallard_guarded_call
)");
#elif defined(__aarch64__)
asm(R"(
  .text
  .p2align 4
  .globl mallard_guarded_call
  .hidden mallard_guarded_call
  .type mallard_guarded_call, %function
mallard_guarded_call:
  .cfi_startproc
  .cfi_personality 0x1b, mallard_leave_call
  stp x29, x30, [sp, #-16]!
  .cfi_adjust_cfa_offset 16
  .cfi_rel_offset x29, 0
  .cfi_rel_offset x30, 8
  mov x16, x0
  mov x0, x1
  mov x1, x2
  mov x2, x3
  blr x16
  ldp x29, x30, [sp], #16
  .cfi_restore x30
  .cfi_restore x29
  .cfi_adjust_cfa_offset -16
  ret
  .cfi_endproc
  .size mallard_guarded_call, . - mallard_guarded_call
)");
#endif
