// process_chunks(): the one chunk cache of the process, which all heaps share by default.
//
//     mallard::process_chunks().set_limit(0);     nothing is cached from now on
//     mallard::process_chunks().trim(0);          what is cached now goes back to the system
//
// It is there before main and after every destructor, so static heaps may use it: it is initialised at
// compile time and never destroyed. Shared libraries share it, also where they hide their symbols; one that
// is loaded at run time, by a program that exports none, has a cache of its own.
//
// fork() may be called while other threads use it: the child finds it whole, with copies of the cached
// chunks. The program and each library that includes this have handlers for that from the first of their
// initialisers on (priority 101) until they are unloaded. They are called around those that are registered
// later, in pthread_atfork's order, so those may use heaps. One that was registered earlier, by a library
// without this header, must not: it would wait for the forking thread itself. A program that forks by other
// means than fork() must call nothing of it in the child.
// Cost: the address of a variable.
#pragma once

#include <pthread.h>

#include <atomic>
#include <type_traits>

#include "mallard/core/attributes.hpp"
#include "mallard/source/chunk_cache.hpp"

namespace mallard {
namespace detail {

struct fork_list_entry {
  fork_list_entry* later = nullptr;  // the next that was registered
};

// Shared as a whole: who shares the cache shares the list of its handlers.
struct process_chunks_state {
  chunk_cache cache;
  std::atomic<fork_list_entry*> first = nullptr;  // registered first, of those that are loaded
  bool is_held = false;                           // by a thread that is forking
};

MALLARD_VISIBLE inline constinit process_chunks_state the_process_chunks;
static_assert(std::is_trivially_destructible_v<process_chunks_state>, "static heaps end after it would");

// The fork handlers of one program or library: pthread_atfork forgets them when that is unloaded, so each
// has its own, which it shares with no other. Of all handlers over a cache those act that were registered
// first: they are called last before a fork and first after it.
class MALLARD_HIDDEN fork_handlers : fork_list_entry {
 public:
  fork_handlers() noexcept;
  fork_handlers(const fork_handlers&) = delete;
  fork_handlers& operator=(const fork_handlers&) = delete;
  ~fork_handlers();

 private:
  static void before() noexcept;
  static void after() noexcept;
};

MALLARD_FIRST_OF_ALL MALLARD_HIDDEN inline fork_handlers these_fork_handlers;

// Libraries are loaded and unloaded one at a time; a fork may come at any time.
inline fork_handlers::fork_handlers() noexcept {
  fork_list_entry* last = the_process_chunks.first;
  while (last != nullptr && last->later != nullptr) last = last->later;
  if (::pthread_atfork(before, after, after) != 0) return;
  if (last != nullptr)
    last->later = this;
  else
    the_process_chunks.first = this;
}

// The last ones stay first: where the process ends, its threads may fork to the very end.
inline fork_handlers::~fork_handlers() {
  fork_list_entry* earlier = the_process_chunks.first;
  if (earlier == this) {
    if (later != nullptr) the_process_chunks.first = later;
    return;
  }
  while (earlier != nullptr && earlier->later != this) earlier = earlier->later;
  if (earlier != nullptr) earlier->later = later;
}

inline void fork_handlers::before() noexcept {
  if (the_process_chunks.first != &these_fork_handlers) return;
  the_process_chunks.cache.before_fork();
  the_process_chunks.is_held = true;
}

inline void fork_handlers::after() noexcept {
  if (!the_process_chunks.is_held) return;
  the_process_chunks.is_held = false;
  the_process_chunks.cache.after_fork();
}

}  // namespace detail

[[nodiscard]] inline chunk_cache& process_chunks() noexcept { return detail::the_process_chunks.cache; }

}  // namespace mallard
