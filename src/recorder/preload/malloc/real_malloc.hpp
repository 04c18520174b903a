// real_malloc: the functions that this library interposes, the next ones in the program's order of lookup.
//
//     program -> malloc here -> real.malloc: another preloaded allocator's, or libc's
//
// Each pointer first leads to code that looks all of them up, so that later calls need no check. The lookup
// may itself allocate: meanwhile the pointers lead to a small fixed buffer. Blocks from there are recognised
// when they are freed, which costs every free one comparison.
//
// The operators new and delete: where a C++ runtime is loaded they are looked up when the program starts,
// since a look-up later takes away the message that dlerror() would return. A C program has none then, and
// may load a library that brings them, even one with RTLD_LOCAL. There each is looked up when it is first
// needed, among the libraries behind this one and then in the C++ runtimes that are loaded; so is one of
// another library than malloc's after any was unloaded. If there is none at all, malloc and free take their
// place.
//
// A real operator new may throw through the recorder:
//
//     program -> operator new here (marks the call) -> guarded_call -> real operator new -> throws
//                                                         ^ its personality takes the mark away
//
// The recorder is built without exceptions and links no C++ runtime, so its frames have no clean-up. The one
// frame of guarded_call has a personality routine that records and ends the marked call when the unwinder
// passes it. guarded_call is written in assembler, since only there can a function name its personality
// routine.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "mallard/core/attributes.hpp"
#include "recorder/preload/event/emit_event.hpp"

namespace mallard::recorder {

struct real_functions {
  void* (*malloc)(std::size_t) noexcept;
  void* (*calloc)(std::size_t, std::size_t) noexcept;
  void* (*realloc)(void*, std::size_t) noexcept;
  void* (*reallocarray)(void*, std::size_t, std::size_t) noexcept;
  void (*free)(void*) noexcept;
  int (*posix_memalign)(void**, std::size_t, std::size_t) noexcept;
  void* (*aligned_alloc)(std::size_t, std::size_t) noexcept;
  void* (*memalign)(std::size_t, std::size_t) noexcept;
  void* (*valloc)(std::size_t) noexcept;
  void* (*pvalloc)(std::size_t) noexcept;
};

extern real_functions real;

// Looks the functions up if that has not happened yet.
void find_real_functions() noexcept;

inline constexpr std::size_t bootstrap_bytes = std::size_t{64} * 1024;
extern char bootstrap_buffer[bootstrap_bytes];

// Whether `p` was handed out while the functions were looked up.
[[nodiscard]] MALLARD_INLINE bool is_bootstrap(const void* p) noexcept {
  return reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(bootstrap_buffer) <
         bootstrap_bytes;
}

// `p` of the bootstrap buffer, moved to a block of `size` bytes of the real malloc; null if there is none.
[[nodiscard]] void* move_out_of_bootstrap(const void* p, std::size_t size) noexcept;

// Every form, by the name that the compiler gives it.
#define MALLARD_NEW_FORMS(form)                                                                             \
  form(_Znwm) form(_ZnwmRKSt9nothrow_t) form(_ZnwmSt11align_val_t) form(_ZnwmSt11align_val_tRKSt9nothrow_t) \
      form(_Znam) form(_ZnamRKSt9nothrow_t) form(_ZnamSt11align_val_t)                                      \
          form(_ZnamSt11align_val_tRKSt9nothrow_t)
#define MALLARD_DELETE_FORMS(form)                                                                    \
  form(_ZdlPv) form(_ZdlPvm) form(_ZdlPvSt11align_val_t) form(_ZdlPvmSt11align_val_t)                 \
      form(_ZdlPvRKSt9nothrow_t) form(_ZdlPvSt11align_val_tRKSt9nothrow_t) form(_ZdaPv) form(_ZdaPvm) \
          form(_ZdaPvSt11align_val_t) form(_ZdaPvmSt11align_val_t) form(_ZdaPvRKSt9nothrow_t)         \
              form(_ZdaPvSt11align_val_tRKSt9nothrow_t)

enum class operator_form : unsigned {
#define MALLARD_ENUMERATOR(name) name,
  MALLARD_NEW_FORMS(MALLARD_ENUMERATOR) MALLARD_DELETE_FORMS(MALLARD_ENUMERATOR)
#undef MALLARD_ENUMERATOR
};

// Whether the real function is known to be libstdc++'s, which is malloc or free under another name, as
// long as malloc succeeds. Known once the form was looked up.
[[nodiscard]] MALLARD_INLINE bool is_plain_malloc(operator_form form) noexcept;

// The real function, null if there is none. May allocate, so a call (call.hpp) must be open.
[[nodiscard]] void* real_operator(operator_form form) noexcept;

struct found_operator {
  std::atomic<void*> function;
  std::atomic<std::uint32_t> generation;  // of the modules, when it was found
  std::atomic<bool> is_plain_malloc;
};
inline constexpr std::size_t operator_forms = 20;
extern found_operator found_operators[operator_forms];

// Looks all of them up, if a C++ runtime is loaded.
void find_real_operators() noexcept;

MALLARD_INLINE bool is_plain_malloc(operator_form form) noexcept {
  return found_operators[static_cast<unsigned>(form)].is_plain_malloc.load(std::memory_order_relaxed);
}

// An event whose real call has not returned yet.
struct open_event {
  event_fields fields;
  call_site site;
};

// Of the operator new that this thread is in, if that is called by way of guarded_call.
extern thread_local constinit const open_event* event_of_new;

// function(first, second, third); functions with fewer parameters do not see the rest.
extern "C" void* mallard_guarded_call(void* function, std::size_t first, std::size_t second,
                                      const void* third);

}  // namespace mallard::recorder
