// thread_state: what the recorder keeps of a thread, and how the thread gets a ring.
//
//     record:  a ring, and room up to `limit`?  --yes-->  words, then head: no lock, no system call
//                                               --no--->  own a ring, look how far the reader is, wait
//
// A thread owns a ring from its first record until the last round of its thread-specific destructors. What it
// frees even later, and what threads without a ring record, goes through the shared ring 0 under a lock.
// Initial-exec thread-local memory: no call to reach it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "journal/spool/spool.hpp"
#include "recorder/preload/spool/raw_calls.hpp"
#include "recorder/preload/spool/reader_watch.hpp"
#include "recorder/preload/stack/context_tree.hpp"
#include "recorder/preload/stack/open_scopes.hpp"
#include "recorder/preload/stack/stack_memo.hpp"

namespace mallard::recorder {

inline constexpr std::uint32_t shared_ring = 0;

// What the recorder remembers beside a ring, in private memory of the process. It belongs to the ring, not to
// the thread, so that one of ten thousand short-lived threads finds what the one before it learned. Its owner
// is the ring's; that of the shared ring is guarded by its lock.
struct ring_caches {
  context_tree contexts;
  stack_memo stacks;
  std::uint64_t allocations;  // so far, while snapshots are taken
};

// Those of a ring, made when they are first asked for; null if there is no memory for them.
[[nodiscard]] ring_caches* caches_of_ring(std::uint32_t index) noexcept;

// In a forked child: forgets what refers to the spool of before. What other threads than this one were
// changing cannot be trusted, so of theirs nothing is touched or used again; `whole` (or null) is not theirs.
void forget_ring_caches(ring_caches* whole) noexcept;

struct thread_state {
  ring_writer ring;
  ring_caches* caches;         // of the ring; null: no ring
  stack_range stack;           // that it runs on, as far as is known
  void* outermost_call;        // frame of the entry point that is running; null: none
  std::uint32_t nested_calls;  // calls from inside another one
  std::uint32_t number;        // of this thread in the recording, from 1; 0: has recorded nothing yet
  std::uint32_t patience;      // records to put into the shared ring before looking for an own one again
  std::uint32_t end_rounds;    // how often the thread's end has been announced
  std::uint32_t calls;         // so far, of which one in 64 is timed:
  std::uint32_t next_timed;    // this one next
  std::uint32_t random;        // by which that is chosen
  open_scopes scopes;
};

extern thread_local constinit thread_state self;

// Has every thread give its ring back when it ends; called once.
void watch_thread_ends() noexcept;

// Gives the shared ring back if this thread jumps out of a ring_access, as a signal handler can where signals
// could not be blocked.
void abandon_shared_ring() noexcept;

// Gives this thread a ring with room for a record, its own or the shared one, and blocks its signals, for the
// lifetime of the object. ready() is false if nothing is recorded (any more).
class ring_access {
 public:
  ring_access() noexcept;
  ~ring_access() noexcept;
  ring_access(const ring_access&) = delete;
  ring_access& operator=(const ring_access&) = delete;

  [[nodiscard]] bool ready() const noexcept { return ready_; }
  [[nodiscard]] bool is_shared() const noexcept { return shared_; }

 private:
  bool share(spool_header* spool) noexcept;

  blocked_signals signals_;
  bool shared_ = false;
  bool ready_ = false;
};

}  // namespace mallard::recorder
