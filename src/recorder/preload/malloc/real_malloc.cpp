#include "recorder/preload/malloc/real_malloc.hpp"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>

#include <atomic>
#include <cstdint>

#include "mallard/core/attributes.hpp"
#include "recorder/preload/event/call.hpp"
#include "recorder/preload/state/recorder_state.hpp"

namespace mallard::recorder {

alignas(16) char bootstrap_buffer[bootstrap_bytes];

namespace {

// Blocks of the bootstrap buffer, one after the other, each behind its size; none is ever reused.
constexpr std::size_t bootstrap_header = 16;
std::atomic<std::size_t> bootstrap_used{0};

void* bootstrap_malloc(std::size_t size) noexcept {
  if (size > bootstrap_bytes) return nullptr;
  const std::size_t whole = bootstrap_header + ((size + 15) & ~std::size_t{15});
  const std::size_t at = bootstrap_used.fetch_add(whole, std::memory_order_relaxed);
  if (at + whole > bootstrap_bytes) return nullptr;
  memcpy(bootstrap_buffer + at, &size, sizeof size);
  return bootstrap_buffer + at + bootstrap_header;
}

void* bootstrap_calloc(std::size_t count, std::size_t size) noexcept {
  std::size_t whole = 0;
  return __builtin_mul_overflow(count, size, &whole) ? nullptr : bootstrap_malloc(whole);  // never used: zero
}

std::size_t bootstrap_size(const void* p) noexcept {
  std::size_t size = 0;
  memcpy(&size, static_cast<const char*>(p) - bootstrap_header, sizeof size);
  return size;
}

void* bootstrap_realloc(void* p, std::size_t size) noexcept {
  void* moved = bootstrap_malloc(size);
  if (moved != nullptr && p != nullptr && is_bootstrap(p)) {
    const std::size_t old = bootstrap_size(p);
    memcpy(moved, p, old < size ? old : size);
  }
  return moved;
}

// Looking symbols up needs no other entry point.
void bootstrap_free(void*) noexcept {}
constexpr real_functions bootstrap_functions = {
    .malloc = bootstrap_malloc,
    .calloc = bootstrap_calloc,
    .realloc = bootstrap_realloc,
    .reallocarray = [](void*, std::size_t, std::size_t) noexcept -> void* { return nullptr; },
    .free = bootstrap_free,
    .posix_memalign = [](void**, std::size_t, std::size_t) noexcept -> int { return ENOMEM; },
    .aligned_alloc = [](std::size_t, std::size_t) noexcept -> void* { return nullptr; },
    .memalign = [](std::size_t, std::size_t) noexcept -> void* { return nullptr; },
    .valloc = [](std::size_t) noexcept -> void* { return nullptr; },
    .pvalloc = [](std::size_t) noexcept -> void* { return nullptr; },
};

template <class Function>
void find(Function*& where, const char* name) noexcept {
  if (void* found = dlsym(RTLD_NEXT, name)) where = reinterpret_cast<Function*>(found);
}

// The first call of any entry point: finds the functions, then is an ordinary call.
template <auto Member>
struct first_call;
template <class Result, class... Arguments, Result (*real_functions::*Member)(Arguments...) noexcept>
struct first_call<Member> {
  static Result run(Arguments... arguments) noexcept {
    find_real_functions();
    return (real.*Member)(arguments...);
  }
};

std::atomic<bool> looked_up{false};

}  // namespace

constinit real_functions real = {
    .malloc = first_call<&real_functions::malloc>::run,
    .calloc = first_call<&real_functions::calloc>::run,
    .realloc = first_call<&real_functions::realloc>::run,
    .reallocarray = first_call<&real_functions::reallocarray>::run,
    .free = first_call<&real_functions::free>::run,
    .posix_memalign = first_call<&real_functions::posix_memalign>::run,
    .aligned_alloc = first_call<&real_functions::aligned_alloc>::run,
    .memalign = first_call<&real_functions::memalign>::run,
    .valloc = first_call<&real_functions::valloc>::run,
    .pvalloc = first_call<&real_functions::pvalloc>::run,
};

void find_real_functions() noexcept {
  if (looked_up.load(std::memory_order_relaxed) || looked_up.exchange(true)) return;
  real = bootstrap_functions;
  real_functions found = bootstrap_functions;
  find(found.malloc, "malloc");
  find(found.calloc, "calloc");
  find(found.realloc, "realloc");
  find(found.reallocarray, "reallocarray");
  find(found.free, "free");
  find(found.posix_memalign, "posix_memalign");
  find(found.aligned_alloc, "aligned_alloc");
  find(found.memalign, "memalign");
  find(found.valloc, "valloc");
  find(found.pvalloc, "pvalloc");
  real = found;
}

void* move_out_of_bootstrap(const void* p, std::size_t size) noexcept {
  void* moved = real.malloc(size);
  const std::size_t old = bootstrap_size(p);
  if (moved != nullptr) memcpy(moved, p, old < size ? old : size);
  return moved;
}

constinit found_operator found_operators[operator_forms]{};

namespace {

constexpr const char* names[] = {
#define MALLARD_NAME(name) #name,
    MALLARD_NEW_FORMS(MALLARD_NAME) MALLARD_DELETE_FORMS(MALLARD_NAME)
#undef MALLARD_NAME
};
constexpr const char* runtimes[] = {"libstdc++.so.6", "libc++abi.so.1", "libc++.so.1"};

static_assert(sizeof names / sizeof *names == operator_forms);

// The module that a function lies in; null: none.
const link_map* module_of(void* function) noexcept {
  dl_find_object found;
  return _dl_find_object(function, &found) == 0 ? found.dlfo_link_map : nullptr;
}

// libstdc++'s own operator, while its malloc is the one here.
bool is_libstdcxx_over_us(void* function, const char* name) noexcept {
  const link_map* module = module_of(function);
  if (module == nullptr || strstr(module->l_name, "/libstdc++.so") == nullptr) return false;
  const bool over_aligned = strstr(name, "St11align_val_t") != nullptr;
  return !over_aligned &&
         module_of(dlsym(RTLD_DEFAULT, "malloc")) == module_of(reinterpret_cast<void*>(&find_real_operators));
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
  dlerror();  // of what failed here
  dlerror();  // frees it, which would else be the program's doing
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

void find_real_operators() noexcept {
  const call outer;  // what the loader allocates is not the program's
  for (unsigned form = 0; form < operator_forms; ++form)
    if (look_up(form) == nullptr) break;
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
