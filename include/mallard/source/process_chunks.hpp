// process_chunks(): the one chunk cache of the process, which all heaps share by default.
//
//     mallard::process_chunks().set_limit(0);     nothing is cached from now on
//     mallard::process_chunks().trim(0);          what is cached now goes back to the system
//
// It is there before main and after every destructor, so static heaps may use it: it is initialised at
// compile time and never destroyed. Shared libraries share it, also where they hide their symbols; one that
// is loaded at run time, by a program that exports none, has a cache of its own. fork() may be called while
// other threads use it: the child finds it whole, with copies of the cached chunks. A program that forks
// by other means than fork() must call nothing of it in the child.
// Cost: three instructions.
#pragma once

#include <pthread.h>

#include <type_traits>

#include "mallard/core/attributes.hpp"
#include "mallard/source/chunk_cache.hpp"

namespace mallard {
namespace detail {

MALLARD_VISIBLE inline constinit chunk_cache the_process_chunks;
static_assert(std::is_trivially_destructible_v<chunk_cache>, "static heaps end after it would");

inline bool survives_forks() noexcept {
  return ::pthread_atfork([] { the_process_chunks.before_fork(); }, [] { the_process_chunks.after_fork(); },
                          [] { the_process_chunks.after_fork(); }) == 0;
}

}  // namespace detail

[[nodiscard]] MALLARD_VISIBLE inline chunk_cache& process_chunks() noexcept {
  [[maybe_unused]] static const bool prepared = detail::survives_forks();
  return detail::the_process_chunks;
}

}  // namespace mallard
