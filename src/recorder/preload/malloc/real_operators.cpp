#include "recorder/preload/malloc/real_operators.hpp"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include <cstdint>

#include "mallard/core/attributes.hpp"
#include "recorder/preload/state/recorder_state.hpp"

namespace mallard::recorder {

constinit found_operator found_operators[operator_forms]{};

namespace {

constexpr const char* names[] = {
#define MALLARD_NAME(name) #name,
    MALLARD_NEW_FORMS(MALLARD_NAME) MALLARD_DELETE_FORMS(MALLARD_NAME)
#undef MALLARD_NAME
};
constexpr const char* runtimes[] = {"libstdc++.so.6", "libc++abi.so.1", "libc++.so.1"};

static_assert(sizeof names / sizeof *names == operator_forms);

// Whether two symbols lie in the same library.
bool are_neighbours(const void* one, const void* other) noexcept {
  Dl_info of_one{};
  Dl_info of_other{};
  return dladdr(one, &of_one) != 0 && dladdr(other, &of_other) != 0 && of_one.dli_fbase == of_other.dli_fbase;
}

// libstdc++'s own operator, while its malloc is the one here.
bool is_libstdcxx_over_us(const void* function, const char* name) noexcept {
  Dl_info of_function{};
  if (dladdr(function, &of_function) == 0 || strstr(of_function.dli_fname, "/libstdc++.so") == nullptr)
    return false;
  const bool over_aligned = strstr(name, "St11align_val_t") != nullptr;
  return !over_aligned && are_neighbours(dlsym(RTLD_DEFAULT, "malloc"), &found_operators);
}

MALLARD_NOINLINE void* look_up(unsigned form) noexcept {
  const int saved_errno = errno;
  void* function = dlsym(RTLD_NEXT, names[form]);
  for (const char* runtime : runtimes) {
    if (function != nullptr) break;
    void* library = dlopen(runtime, RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    function = dlsym(library, names[form]);
    dlclose(library);
  }
  dlerror();  // clears what failed here
  found_operators[form].generation.store(state.module_generation.load(std::memory_order_relaxed),
                                         std::memory_order_relaxed);
  found_operators[form].function.store(function, std::memory_order_release);
  if (function != nullptr)
    found_operators[form].is_plain_malloc.store(is_libstdcxx_over_us(function, names[form]),
                                                std::memory_order_relaxed);
  errno = saved_errno;
  return function;
}

}  // namespace

void* real_operator(operator_form form) noexcept {
  const found_operator& found = found_operators[static_cast<unsigned>(form)];
  void* function = found.function.load(std::memory_order_acquire);
  const bool may_be_gone = found.generation.load(std::memory_order_relaxed) !=
                           state.module_generation.load(std::memory_order_relaxed);
  return function != nullptr && !may_be_gone ? function : look_up(static_cast<unsigned>(form));
}

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
