// fault_report: prints which block a fault was about before the process dies of it.
//
//     report_faults();                                                    once, where the user wants it
//     p[48] = 1;
//     mallard: guard_pages: access behind a block: 48 bytes aligned to 8 at ..., block number 17
//         0x7f... is 0 bytes behind its end
//         now: ...
//         allocated: ...
//     Segmentation fault
//
// Nothing is installed until report_faults() is called. Its handler for SIGSEGV and SIGBUS prints one report
// if the address belongs to a heap that derives from `watches_addresses`. Then the former action follows, as
// it does for every other fault and for such signals sent by a process: a former handler is called, and the
// reporter stays installed; by default the process ends by that signal, at the faulting instruction. The
// former handler's signal mask is not applied.
// The handler reads the tables of all such heaps without a lock: if another thread is working in one of them,
// the report may be wrong, or the process may end without it.
#pragma once

#include <signal.h>
#include <ucontext.h>

#include <atomic>
#include <mutex>

#include "mallard/debug/call_place.hpp"
#include "mallard/debug/misuse.hpp"

namespace mallard {

// A heap that knows the blocks around an address. The handler finds all that exist.
class watches_addresses {
 public:
  watches_addresses(const watches_addresses&) = delete;
  watches_addresses& operator=(const watches_addresses&) = delete;

  // Returns the live or freed block that an address belongs to, or null. Called by a signal handler.
  [[nodiscard]] virtual const known_block* block_at(const void* address) const noexcept = 0;
  [[nodiscard]] virtual const char* name() const noexcept = 0;

  // The first of all such heaps; next() returns the others.
  [[nodiscard]] static const watches_addresses* first() noexcept { return first_; }
  [[nodiscard]] const watches_addresses* next() const noexcept { return next_; }

 protected:
  watches_addresses() {
    const std::lock_guard lock(mutex_);
    next_ = first_.load();
    first_ = this;
  }

  ~watches_addresses() {
    const std::lock_guard lock(mutex_);
    std::atomic<watches_addresses*>* link = &first_;
    while (link->load() != this) link = &link->load()->next_;
    link->store(next_);
  }

 private:
  static inline std::mutex mutex_;
  static inline std::atomic<watches_addresses*> first_ = nullptr;
  std::atomic<watches_addresses*> next_ = nullptr;
};

namespace detail {

inline struct sigaction former_segv, former_bus;

// The address of the interrupted instruction; null if unknown.
inline const void* interrupted_at([[maybe_unused]] const void* context) noexcept {
#if defined(__linux__) && defined(__x86_64__)
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  return reinterpret_cast<const void*>(registers[REG_RIP]);
#elif defined(__linux__) && defined(__aarch64__)
  return reinterpret_cast<const void*>(static_cast<const ucontext_t*>(context)->uc_mcontext.pc);
#else
  return nullptr;
#endif
}

// Prints nothing if the address belongs to no such heap.
inline void print_fault(const void* address, const call_place& now) noexcept {
  for (const watches_addresses* h = watches_addresses::first(); h != nullptr; h = h->next()) {
    const known_block* const b = h->block_at(address);
    if (b == nullptr) continue;
    const misuse what = !b->live            ? misuse::accessed_after_free
                        : address < b->data ? misuse::accessed_before
                                            : misuse::accessed_behind;
    return print({what, h->name(), address, b->size, b->align, b, now});
  }
}

// Does what would have happened without the reporter. Not noexcept: a former handler may throw or jump.
inline void do_former(int signal, siginfo_t* info, void* context, bool sent) {
  struct sigaction& installed = signal == SIGSEGV ? former_segv : former_bus;
  const struct sigaction former = installed;
  if ((former.sa_flags & static_cast<int>(SA_RESETHAND)) != 0) installed = {};
  if ((former.sa_flags & SA_SIGINFO) != 0) return former.sa_sigaction(signal, info, context);
  if (former.sa_handler != SIG_DFL && former.sa_handler != SIG_IGN) return former.sa_handler(signal);
  if (sent && former.sa_handler == SIG_IGN) return;
  // A fault happens again when this returns. A sent signal must be raised again, and is pending until then.
  ::sigaction(signal, &former, nullptr);
  if (sent) ::raise(signal);
}

inline void on_fault(int signal, siginfo_t* info, void* context) {
  const bool sent = info->si_code <= 0;
  if (!sent) print_fault(info->si_addr, call_place::from(interrupted_at(context)));
  do_former(signal, info, context, sent);
}

}  // namespace detail

// Reports faults at addresses of guard_pages heaps from now on. Further calls do nothing.
inline void report_faults() noexcept {
  [[maybe_unused]] static const bool once = [] {
    struct sigaction action = {};
    action.sa_sigaction = detail::on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigaction(SIGSEGV, &action, &detail::former_segv);
    ::sigaction(SIGBUS, &action, &detail::former_bus);
    return true;
  }();
}

}  // namespace mallard
