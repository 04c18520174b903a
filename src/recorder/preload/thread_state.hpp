// thread_state: what the recorder keeps of a thread, and how the thread writes a record.
//
//     put:  room up to `limit`?  --yes-->  words, then head: no lock, no system call
//                                --no--->  put_slowly: own a ring, look how far the reader is, wait
//
// A thread owns a ring from its first record until its end, after the last of its thread-specific
// destructors. What it frees even later, and what threads record for which no ring is left, goes
// through the shared ring 0 under a lock. Initial-exec thread-local memory: no call to reach it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "mallard/core/attributes.hpp"
#include "recorder/spool.hpp"

namespace mallard::recorder {

struct ring_writer {
  std::uint64_t* words;
  std::uint64_t mask;
  std::uint64_t head;
  std::uint64_t limit;  // known to be free for writing up to here
  ring_header* shared;  // null: no ring

  // Precondition: there is room for the record.
  MALLARD_INLINE void write(const std::uint64_t* record, std::size_t count) noexcept {
    const std::uint64_t begin = head;
    for (std::size_t i = 0; i < count; ++i) words[(begin + i) & mask] = record[i];
    publish(begin + count);
  }

  // The same with a count known to the compiler: no loop, and the fields are read once.
  template <std::size_t... Index>
  MALLARD_INLINE void write(const std::uint64_t* record, std::index_sequence<Index...>) noexcept {
    std::uint64_t* const place = words;
    const std::uint64_t begin = head;
    const std::uint64_t wrap = mask;
    ((place[(begin + Index) & wrap] = record[Index]), ...);
    publish(begin + sizeof...(Index));
  }

 private:
  MALLARD_INLINE void publish(std::uint64_t position) noexcept {
    head = position;
    shared->head.store(position, std::memory_order_release);
  }
};

struct thread_state {
  ring_writer ring;
  void* outermost_call;        // frame of the entry point that is running; null: none
  std::uint32_t nested_calls;  // calls from inside another one
  std::uint32_t number;        // of this thread in the recording, from 1; 0: has recorded nothing yet
  std::uint32_t patience;      // records to put into the shared ring before looking for an own one again
  std::uint32_t end_rounds;    // how often the thread's end has been announced
};

extern thread_local constinit thread_state self;

// Has every thread give its ring back when it ends; called once.
void watch_thread_ends() noexcept;

// Puts a record for which there is no room that is known of.
void put_slowly(const std::uint64_t* record, std::size_t count) noexcept;

template <std::size_t Count>
MALLARD_INLINE void put(const std::uint64_t (&record)[Count]) noexcept {
  if (self.ring.head + Count <= self.ring.limit) [[likely]]
    self.ring.write(record, std::make_index_sequence<Count>());
  else
    put_slowly(record, Count);
}

}  // namespace mallard::recorder
