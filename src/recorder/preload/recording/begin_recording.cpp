// The beginning of a process's recording, and what the library does when it is loaded and unloaded.
//
//     root:        first call, or the library's initialisation --> the launcher's spool
//     its others:  ............................ first event    --> a spool of their own
//
// When the library is loaded, the environment becomes what it would be without the recorder.
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>

#include "recorder/clock.hpp"
#include "recorder/preload/event/call.hpp"
#include "recorder/preload/malloc/real_malloc.hpp"
#include "recorder/preload/process/passed_environment.hpp"
#include "recorder/preload/region/region_calls.hpp"
#include "recorder/preload/spool/lineage.hpp"
#include "recorder/preload/spool/raw_calls.hpp"
#include "recorder/preload/spool/reader_watch.hpp"
#include "recorder/preload/spool/spool_lists.hpp"
#include "recorder/preload/spool/spool_mapping.hpp"
#include "recorder/preload/spool/unrecorded_programs.hpp"
#include "recorder/preload/thread/thread_state.hpp"

namespace mallard::recorder {

namespace {

std::atomic<bool> begun{false};
bool bypassed = false;              // the program calls a malloc that this library is not asked for
bool is_forked = false;             // the loader's lock may be held by a thread that is not here
ring_caches* own_caches = nullptr;  // in a forked child: of the thread that forked

bool wipe_state_in_children() noexcept { return madvise(&state, sizeof state, MADV_WIPEONFORK) == 0; }

// The launched program is the first to take the root's spool.
bool take(spool_header* root) noexcept {
  std::uint32_t nobody = 0;
  return root->attached.compare_exchange_strong(nobody, raw_process());
}

void forget_thread() noexcept {
  self.ring = {};
  self.caches = nullptr;
  self.number = self.patience = self.end_rounds = 0;
}

// Runs in a forked child before anything of the program does. An event that a signal handler interrupted to
// fork is still being written, into memory that nobody reads.
void at_fork_in_child() noexcept {
  is_forked = true;
  take_lent_environment_back();
  leave_parents_spool();
  if (self.outermost_call != nullptr) return;
  if (self.caches != nullptr) own_caches = self.caches;
  forget_thread();
}

void record_into(spool_header* spool) noexcept {
  lineage.number = spool->number;
  lineage.process = raw_process();
  state.start_ticks = spool->start_ticks;
  state.timing = find_timing_cost();
  state.stacks = spool->options.stacks;
  state.depth = spool->options.depth;
  state.free_stacks = spool->options.free_stacks != 0;
  state.snapshots = spool->options.snapshots != 0;
  state.spool.store(spool, std::memory_order_release);
}

void record_as_root() noexcept {
  spool_header* spool = map_spool(lineage.spool, lineage.root->options);
  if (spool != nullptr) {
    list_modules(spool);
    record_into(spool);
  } else {
    lineage.root->unmapped = 1;
  }
  state.decided.store(true, std::memory_order_release);
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

// Joins the recording that the environment names, once it can be read; later calls do nothing.
void begin_recording() noexcept {
  if (environ == nullptr || begun.exchange(true)) return;
  const int saved_errno = errno;
  const call outer;
  state.is_being_decided = true;
  if (const char* variable = take_out_of_environment(spool_variable)) {
    restore_preload_variable(lineage.library, sizeof lineage.library);
    if (wipe_state_in_children() && join_lineage(variable)) {
      remember_error_output();
      watch_thread_ends();
      pthread_atfork(nullptr, nullptr, at_fork_in_child);
      if (take(lineage.root)) record_as_root();
    }
  }
  if (lineage.root == nullptr) state.decided.store(true, std::memory_order_release);
  state.is_being_decided = false;
  errno = saved_errno;
}

[[gnu::constructor]] void at_start() noexcept {
  find_real_functions();
  find_real_operators();
  begin_recording();
  bypassed = lineage.root != nullptr && is_bypassed();
  if (!bypassed) return;
  spool_header* spool = current_spool();
  if (spool != nullptr) spool->bypassed = 1;
  if (children_are_recorded() && (spool == nullptr || spool->number != 0))
    count_unrecorded("it is linked with a malloc of its own, which the recorder cannot see");
}

[[gnu::destructor]] void at_exit() noexcept {
  spool_header* spool = current_spool();
  if (spool == nullptr) return;
  if (!is_forked) list_modules(spool);
  spool->peak_rss = peak_of_program();
  spool->end_cpu_ns = raw_cpu_ns();
}

}  // namespace

MALLARD_NOINLINE bool begin_with_first_call() noexcept {
  const call outer;  // a scope begins outside of any
  find_real_functions();
  begin_recording();
  if (lineage.root == nullptr) return false;
  while (state.is_being_decided.exchange(true)) {  // by another thread
    pause_for_ns(10'000);
    if (state.decided.load(std::memory_order_acquire)) return current_spool() != nullptr;
  }
  if (state.decided) return current_spool() != nullptr;
  const int saved_errno = errno;
  forget_thread();
  forget_ring_caches(own_caches);
  own_caches = nullptr;
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
    record_into(spool);
  }
  state.decided.store(true, std::memory_order_release);
  errno = saved_errno;
  return spool != nullptr;
}

}  // namespace mallard::recorder
