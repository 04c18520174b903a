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

#include <type_traits>

#include "mallard/core/attributes.hpp"
#include "mallard/source/chunk_cache.hpp"
#include "mallard/source/fork_handlers.hpp"

namespace mallard {
namespace detail {

// Shared as a whole: who shares the cache shares the list of its handlers.
struct process_chunks_state {
  chunk_cache cache;
  fork_list forks;
};

MALLARD_VISIBLE inline constinit process_chunks_state the_process_chunks;
static_assert(std::is_trivially_destructible_v<process_chunks_state>, "static heaps end after it would");

struct MALLARD_HIDDEN chunks_over_forks {
  static fork_list& list() noexcept { return the_process_chunks.forks; }
  static fork_handlers<chunks_over_forks>& own() noexcept;
  static void before_fork() noexcept { the_process_chunks.cache.before_fork(); }
  static void after_fork() noexcept { the_process_chunks.cache.after_fork(); }
  static void after_fork_in_child() noexcept { after_fork(); }
};

MALLARD_FIRST_OF_ALL MALLARD_HIDDEN inline fork_handlers<chunks_over_forks> chunk_fork_handlers;

inline fork_handlers<chunks_over_forks>& chunks_over_forks::own() noexcept { return chunk_fork_handlers; }

}  // namespace detail

[[nodiscard]] inline chunk_cache& process_chunks() noexcept { return detail::the_process_chunks.cache; }

}  // namespace mallard
