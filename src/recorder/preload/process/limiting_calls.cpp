// prctl and syscall: by which a program limits what its threads may do from now on, or becomes another one.
//
//     a seccomp filter in force        it is noted, and the recorder makes no call for which it would kill
//     seccomp's strict mode            recording ends, since not even the clock may be read
//     PR_SET_TSC                       the same
//     execve, execveat                 as by their own entry points (exec.cpp)
//
// What the program asks for is done first, and in the way that it asked for. All other calls of syscall() are
// passed on with a jump.
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder/preload/event/call.hpp"
#include "recorder/preload/spool/call_filter.hpp"
#include "recorder/preload/spool/raw_calls.hpp"

namespace mallard::recorder {
namespace {

void end_recording(limitation reason) noexcept {
  spool_header* spool = current_spool();
  if (spool == nullptr) return;
  spool->limited.store(reason);
  stop_recording();
}

void limit_to_mode(std::uint64_t mode, std::uint64_t filter) noexcept {
  if (mode == SECCOMP_MODE_STRICT) end_recording(limitation::strict_mode);
  if (mode == SECCOMP_MODE_FILTER) note_filter(*reinterpret_cast<const sock_fprog*>(filter));
}

// After a call that has succeeded.
void see(const system_call& call) noexcept {
  const std::uint64_t what = call.arguments[0];
  if (call.number == SYS_prctl) {
    if (what == PR_SET_SECCOMP) limit_to_mode(call.arguments[1], call.arguments[2]);
    if (what == PR_SET_TSC && call.arguments[1] == PR_TSC_SIGSEGV) end_recording(limitation::clock);
  } else if (call.number == SYS_seccomp) {
    if (what == SECCOMP_SET_MODE_STRICT) limit_to_mode(SECCOMP_MODE_STRICT, 0);
    if (what == SECCOMP_SET_MODE_FILTER) limit_to_mode(SECCOMP_MODE_FILTER, call.arguments[2]);
  }
}

long make(const system_call& call) noexcept {
  const long result = enter_kernel(call);
  if (result < 0) {
    errno = static_cast<int>(-result);
    return -1;
  }
  see(call);
  return result;
}

}  // namespace
}  // namespace mallard::recorder

using namespace mallard::recorder;

// What syscall jumps to; null until it is looked up.
extern "C" {
[[gnu::visibility("hidden"), gnu::used]] void* mallard_next_syscall = nullptr;
}

namespace {
[[gnu::constructor]] void find_syscall() noexcept {
  const call outer;  // what the loader allocates is not the program's
  mallard_next_syscall = dlsym(RTLD_NEXT, "syscall");
}
}  // namespace

extern "C" [[gnu::visibility("hidden"), gnu::used]] long mallard_limiting_syscall(
    std::uint64_t number, std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d, std::uint64_t e,
    std::uint64_t f) noexcept {
  const auto words = [](std::uint64_t list) { return reinterpret_cast<char* const*>(list); };
  const bool has_path = (number == SYS_execve ? a : b) != 0;  // without one the kernel says so
  if (number == SYS_execve && has_path) return execve(reinterpret_cast<const char*>(a), words(b), words(c));
  if (number == SYS_execveat && has_path)
    return execveat(static_cast<int>(a), reinterpret_cast<const char*>(b), words(c), words(d),
                    static_cast<int>(e));
  return make({number, {a, b, c, d, e, f}});
}

MALLARD_INTERPOSED int prctl(int option, std::uint64_t a, std::uint64_t b, std::uint64_t c,
                             std::uint64_t d) noexcept {
  return static_cast<int>(make({SYS_prctl, {static_cast<std::uint64_t>(option), a, b, c, d, 0}}));
}

#if defined(__x86_64__)
static_assert(SYS_prctl == 157 && SYS_seccomp == 317 && SYS_execve == 59 && SYS_execveat == 322);
asm(R"(
  .text
  .p2align 4
  .globl syscall
  .type syscall, @function
syscall:
  .cfi_startproc
  cmp $157, %rdi
  je mallard_limiting_syscall
  cmp $317, %rdi
  je mallard_limiting_syscall
  cmp $59, %rdi
  je mallard_limiting_syscall
  cmp $322, %rdi
  je mallard_limiting_syscall
  mov mallard_next_syscall(%rip), %rax
  test %rax, %rax
  je mallard_limiting_syscall
  jmp *%rax
  .cfi_endproc
  .size syscall, . - syscall
)");
#elif defined(__aarch64__)
static_assert(SYS_prctl == 167 && SYS_seccomp == 277 && SYS_execve == 221 && SYS_execveat == 281);
asm(R"(
  .text
  .p2align 4
  .globl syscall
  .type syscall, %function
syscall:
  .cfi_startproc
  cmp x0, #167
  b.eq 1f
  cmp x0, #277
  b.eq 1f
  cmp x0, #221
  b.eq 1f
  cmp x0, #281
  b.eq 1f
  adrp x16, mallard_next_syscall
  ldr x16, [x16, #:lo12:mallard_next_syscall]
  cbz x16, 1f
  br x16
1:
  b mallard_limiting_syscall
  .cfi_endproc
  .size syscall, . - syscall
)");
#endif
