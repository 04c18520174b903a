#include "recorder/preload/session.hpp"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "recorder/preload/call.hpp"
#include "recorder/preload/malloc/real_malloc.hpp"
#include "recorder/preload/process/environment.hpp"
#include "recorder/preload/process/lent_environment.hpp"
#include "recorder/preload/region/scopes.hpp"
#include "recorder/preload/spool/child_spool.hpp"
#include "recorder/preload/spool/cpu_time.hpp"
#include "recorder/preload/spool/lineage.hpp"
#include "recorder/preload/spool/module_list.hpp"
#include "recorder/preload/spool/raw_calls.hpp"
#include "recorder/preload/spool/reader_watch.hpp"
#include "recorder/preload/spool/spool_mapping.hpp"
#include "recorder/preload/thread_state.hpp"
#include "recorder/variables.hpp"

namespace mallard::recorder {

constinit session_gate gate{};

namespace {

std::atomic<bool> begun{false};
bool bypassed = false;            // the program calls a malloc that this library is not asked for
bool is_forked = false;           // the loader's lock may be held by a thread that is not here
ring_state* own_state = nullptr;  // in a forked child: of the thread that forked
struct stat error_output{};       // what descriptor 2 was: it is warned to only while it still is that

bool close_gate_in_children() noexcept { return madvise(&gate, sizeof gate, MADV_WIPEONFORK) == 0; }

// The launched program is the first to take the root's spool.
bool take(spool_header* root) noexcept {
  std::uint32_t nobody = 0;
  return root->attached.compare_exchange_strong(nobody, raw_process());
}

void forget_thread() noexcept {
  self.ring = {};
  self.state = nullptr;
  self.number = self.patience = self.end_rounds = 0;
}

// Runs in a forked child before anything of the program does. An event that a signal handler interrupted to
// fork is still being written, into memory that nobody reads.
void at_fork_in_child() noexcept {
  is_forked = true;
  take_lent_environment_back();
  leave_parents_spool();
  if (self.outermost_call != nullptr) return;
  if (self.state != nullptr) own_state = self.state;
  forget_thread();
}

void open_gate(spool_header* spool) noexcept {
  lineage.process = raw_process();
  gate.start_ticks = spool->start_ticks;
  gate.timing = find_timing_cost();
  gate.stacks = spool->options.stacks;
  gate.depth = spool->options.depth;
  gate.free_stacks = spool->options.free_stacks != 0;
  gate.witness = spool->options.witness != 0;
  gate.spool.store(spool, std::memory_order_release);
}

void begin_roots_session() noexcept {
  spool_header* spool = map_spool(lineage.spool, lineage.root->options.ring_words);
  if (spool != nullptr) {
    list_modules(spool);
    open_gate(spool);
  }
  gate.settled.store(true, std::memory_order_release);
}

// Calls malloc as the program would and sees whether the call arrives here.
bool is_bypassed() noexcept {
  const call outer;
  const std::uint32_t before = self.nested_calls;
  void* (*volatile as_the_program)(std::size_t) = malloc;
  void (*volatile give_back)(void*) = free;
  void* p = as_the_program(1);
  const bool arrived = self.nested_calls != before;
  give_back(p);
  return !arrived;
}

[[gnu::constructor]] void at_start() noexcept {
  find_real_functions();
  begin_session();
  bypassed = lineage.root != nullptr && is_bypassed();
  if (spool_header* spool = recording(); spool != nullptr && bypassed) spool->bypassed = 1;
}

[[gnu::destructor]] void at_exit() noexcept {
  spool_header* spool = recording();
  if (spool == nullptr) return;
  if (!is_forked) list_modules(spool);
  spool->end_cpu_ns = cpu_ns_of_process();
}

}  // namespace

void begin_session() noexcept {
  if (environ == nullptr || begun.exchange(true)) return;
  const int saved_errno = errno;
  const call outer;
  gate.is_being_settled = true;
  if (const char* variable = take_out_of_environment(spool_variable)) {
    restore_preload_variable(lineage.library, sizeof lineage.library);
    if (close_gate_in_children() && join_lineage(variable)) {
      if (fstat(STDERR_FILENO, &error_output) != 0) error_output = {};
      watch_thread_ends();
      pthread_atfork(nullptr, nullptr, at_fork_in_child);
      if (take(lineage.root)) begin_roots_session();
    }
  }
  if (lineage.root == nullptr) gate.settled.store(true, std::memory_order_release);
  gate.is_being_settled = false;
  errno = saved_errno;
}

MALLARD_NOINLINE bool begin_with_first_call() noexcept {
  const call outer;  // a scope begins outside of any
  find_real_functions();
  if (lineage.root == nullptr) return false;
  while (gate.is_being_settled.exchange(true)) {  // by another thread
    pause_for_ns(10'000);
    if (gate.settled.load(std::memory_order_acquire)) return recording() != nullptr;
  }
  if (gate.settled) return recording() != nullptr;
  const int saved_errno = errno;
  forget_thread();
  forget_ring_states(own_state);
  own_state = nullptr;
  spool_header* parents = parents_spool();
  if (self.scopes.count != 0) keep_parents_spool();
  spool_header* spool = children_are_recorded() ? make_child_spool() : nullptr;
  if (spool != nullptr) {
    spool->bypassed = bypassed ? 1 : 0;
    if (self.scopes.count != 0) move_scopes(parents, spool);
    announce_child_spool();
    if (is_forked)
      list_inherited_modules(spool);
    else
      list_modules(spool);
    open_gate(spool);
  }
  gate.settled.store(true, std::memory_order_release);
  errno = saved_errno;
  return spool != nullptr;
}

namespace {

// A pipe that nobody reads any more is no reason to end the program.
void write_without_signal(int descriptor, const char* text, std::size_t size) noexcept {
  sigset_t broken_pipe;
  sigset_t before;
  sigset_t pending;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
  sigpending(&pending);
  const bool was_pending = sigismember(&pending, SIGPIPE) != 0;
  const timespec at_once{};
  if (raw_call(SYS_write, descriptor, text, size) == -EPIPE && !was_pending)
    sigtimedwait(&broken_pipe, nullptr, &at_once);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

void end_session() noexcept { gate.spool.store(nullptr, std::memory_order_relaxed); }

void give_up_session() noexcept {
  spool_header* spool = gate.spool.exchange(nullptr);
  if (spool == nullptr) return;
  const bool said_before = lineage.root->gave_up.exchange(1) != 0;  // by another process
  spool->gave_up = 1;
  if (said_before) return;
  static constexpr char line[] =
      "mallard: recording ended, since mallard-record made no progress for 1 s; the program goes on\n";
  struct stat now{};
  if (fstat(STDERR_FILENO, &now) != 0 || now.st_dev != error_output.st_dev ||
      now.st_ino != error_output.st_ino)
    return;
  write_without_signal(STDERR_FILENO, line, sizeof line - 1);
}

}  // namespace mallard::recorder
