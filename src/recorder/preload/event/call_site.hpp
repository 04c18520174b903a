// call_site: where a call of an entry point came from, and the context that it belongs to.
//
//     | caller's frame ...      | <- sp, right after the call returns
//     | return address          |
//     | saved frame pointer     | <- the entry point's frame
//
// A site is taken inside the entry point itself, where its frame is the innermost one. The user chooses how
// much of it is recorded: nothing, the caller, or the whole stack.
#pragma once

#include <cstdint>

#include "mallard/core/attributes.hpp"
#include "recorder/preload/spool/raw_calls.hpp"
#include "recorder/preload/state/recorder_state.hpp"
#include "recorder/preload/thread/thread_state.hpp"
#include "unwind/stack_bounds.hpp"

namespace mallard::recorder {

struct call_site {
  std::uintptr_t return_address = 0;      // 0: not to be recorded
  const std::uintptr_t* frame = nullptr;  // of the entry point: saved frame pointer, return address

  // Right after the call has returned.
  [[nodiscard]] MALLARD_INLINE walk_start start() const noexcept {
    return {return_address, reinterpret_cast<std::uintptr_t>(frame + 2), *frame};
  }
};

// To be used in an entry point, not in what it calls.
#define MALLARD_CALL_SITE                                                                        \
  (::mallard::recorder::call_site{reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)), \
                                  static_cast<const std::uintptr_t*>(__builtin_frame_address(0))})

// The stack around `sp`, by calls that nobody can intercept: none of libc's that a thread could be cancelled
// in, and errno is kept. Where they fail, that is counted, since the stack is cut.
[[nodiscard]] inline unwind::stack_range find_stack(std::uintptr_t sp) noexcept {
  const int file = raw_open("/proc/self/maps", O_RDONLY);
  const auto found = unwind::stack_at(sp, [file](char* out, std::size_t most) noexcept -> long {
    return file < 0 ? 0 : raw_call(SYS_read, file, out, most);
  });
  if (file >= 0) raw_close(file);
  if (found.end != 0) return found;
  if (spool_header* spool = current_spool()) spool->contexts_wanting.fetch_add(1, std::memory_order_relaxed);
  return unwind::page_of_stack(sp);
}

// The stack that this thread runs on, for a walk from there.
MALLARD_INLINE const stack_range& stack_around(const walk_start& start) noexcept {
  if (start.sp < self.stack.begin || start.sp >= self.stack.end) [[unlikely]]
    self.stack = find_stack(start.sp);
  return self.stack;
}

// A hook for tests, called with each stack that is about to be recorded. Nothing in the library itself; a
// build with MALLARD_STACK_CHECK defines its own.
#if defined(MALLARD_STACK_CHECK)
void check_stack(const walk_start& start, std::uint32_t context) noexcept;
#else
MALLARD_INLINE void check_stack(const walk_start&, std::uint32_t) noexcept {}
#endif

// The context of the whole stack from a site outwards.
[[nodiscard]] MALLARD_INLINE std::uint32_t stack_of(const call_site& site) noexcept {
  const walk_start start = site.start();
  const std::uint32_t context =
      self.caches->stacks.context_of(self.caches->contexts, start, stack_around(start));
  check_stack(start, context);
  return context;
}

// The context with the annotated scopes that are open, whatever is recorded of the stack.
[[nodiscard]] MALLARD_NOINLINE inline std::uint32_t context_in_scopes(const call_site& site) noexcept {
  open_scopes& scopes = self.scopes;
  context_tree& contexts = self.caches->contexts;
  scopes.open_at(site.start().sp);
  if (state.stacks == stack_mode::full)
    return self.caches->stacks.context_in(scopes, contexts, site.start(), stack_around(site.start()));
  spool_header* spool = current_spool();
  if (spool == nullptr) return 0;
  std::uint32_t context = 0;
  for (std::uint32_t i = 0; i < scopes.count; ++i)
    context = contexts.scope(spool, context, scopes.chain[i].place);
  return state.stacks == stack_mode::none ? context : contexts.child(spool, context, site.return_address, 0);
}

// Its context; precondition: this thread has a ring.
[[nodiscard]] MALLARD_INLINE std::uint32_t context_of(const call_site& site) noexcept {
  if (site.return_address == 0) return 0;
  if (self.scopes.count != 0) [[unlikely]]
    return context_in_scopes(site);
  if (state.stacks == stack_mode::full) return stack_of(site);
  if (state.stacks == stack_mode::none) return 0;
  spool_header* spool = current_spool();  // another thread may end the session at any moment
  return spool != nullptr ? self.caches->contexts.caller(spool, site.return_address) : 0;
}

}  // namespace mallard::recorder
