// reader_watch: how a thread gets room in its ring, by looking how far the launcher has read, and by waiting.
//
// Nothing is dropped: a full ring waits as long as the launcher lives. The recording ends when the launcher
// has died, which its lock shows (launcher/spool_file.hpp), or when it has made no progress for half a
// minute, as on a disk that hangs. The launcher sleeps when there is little to read; a ring that is a quarter
// full wakes it, once per quarter. Its heartbeat and its doorbell are in the root's spool. A process that the
// launcher left behind records until the room is used up.
#pragma once

#include <cstdint>

#include "journal/spool/spool.hpp"
#include "mallard/core/attributes.hpp"

namespace mallard::recorder {

// The writing end of a ring, as its owner keeps it.
struct ring_writer {
  std::uint64_t* words;
  std::uint64_t mask;
  std::uint64_t head;
  std::uint64_t limit;           // known to be free for writing up to here
  journal::ring_header* shared;  // null: no ring

  MALLARD_INLINE void publish(std::uint64_t position) noexcept {
    head = position;
    shared->head.store(position, std::memory_order_release);
  }
};

// Sets the writer's limit so that a record of the longest kind fits, if there is room for it by now. Signals
// need not be blocked.
[[nodiscard]] bool take_room(ring_writer& ring) noexcept;

// The same, and waits for room; false if the recording has ended.
[[nodiscard]] bool make_room(journal::spool_header* spool, ring_writer& ring) noexcept;

// Waits until `count` contexts are backed by disk space; false if they will not be, or the recording has
// ended.
[[nodiscard]] bool wait_for_contexts(journal::spool_header* spool, std::uint32_t count) noexcept;

// Waits until the ring of modules has room up to `position`; false if the recording has ended.
[[nodiscard]] bool wait_for_module_room(journal::spool_header* spool, std::uint64_t position) noexcept;

// Waits a moment, without being a cancellation point, and runs on where the program has forbidden itself to
// sleep; false if a signal cut it short.
bool pause_for_ns(long ns) noexcept;

// Clock steps that this thread has spent in such pauses.
extern thread_local constinit std::uint64_t paused_steps;

// Ends the recording because the launcher reads no further, with one warning that says why on the standard
// error output that the process had when remember_error_output() was called.
void give_up_recording() noexcept;
void remember_error_output() noexcept;

// Wakes the launcher if it sleeps.
void wake_reader() noexcept;

}  // namespace mallard::recorder
