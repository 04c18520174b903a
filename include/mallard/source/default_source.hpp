// default_source: pages of the system, through the one chunk cache of the process.
//
//     heap --> default_source = counting< cached_pages > --> process_chunks() --> os_pages
//
//     mallard::process_chunks().set_limit(0);     caches nothing from now on
//     mallard::process_chunks().trim(0);          gives what is cached now back to the system
//
// Every heap stands on a default_source of its own unless another upstream is named, and so knows what it
// holds. All of them share the cache behind it. counting<os_pages> is the same without the cache: such a
// heap shares chunks with no other.
//
// The cache exists before main and after every destructor, so static heaps may use it: it is initialised at
// compile time and never destroyed. Shared libraries share it, even if they hide their symbols; one that
// is loaded at run time, by a program that exports none, has a cache of its own.
//
// fork() may be called while other threads use the cache: the child finds it intact, with copies of the
// cached chunks. The program and each library that includes this header have fork handlers for that from the
// first of their initialisers on (priority 101) until they are unloaded. Handlers that are registered later
// may use heaps: pthread_atfork runs them around these. A handler that a library without this header has
// registered earlier must not, as it would wait for the forking thread itself. The child of a bare clone()
// or vfork() must not use the cache.
//
// Received sizes are whole pages; above 8 of them up to a page or 1/32 more than asked for (span_sizes).
// Cost: about 90 instructions per chunk if one of the size is cached, otherwise the system's.
#pragma once

#include <cstddef>
#include <type_traits>

#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/source/chunk_cache.hpp"
#include "mallard/source/counting.hpp"
#include "mallard/source/fork_handlers.hpp"

namespace mallard {
namespace detail {

// Shared as a whole: libraries that share the cache share the list of its handlers.
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

// The cache as a source. Like os_pages it has no state: a block of one may be given back to another, on any
// thread. Unlike theirs, its pages are not zero.
class cached_pages {
 public:
  static constexpr bool is_concurrent = true;

  cached_pages() = default;
  cached_pages(const cached_pages&) = delete;
  cached_pages& operator=(const cached_pages&) = delete;

  // The members of a heap, though this one has no state.
  // NOLINTBEGIN(readability-convert-member-functions-to-static, readability-make-member-function-const)
  [[nodiscard]] std::size_t received_size(std::size_t size, std::size_t align) const noexcept {
    return process_chunks().received_size(size, align);
  }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align) noexcept {
    return process_chunks().allocate(size, align);
  }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align, bool& is_fresh) noexcept {
    return process_chunks().allocate(size, align, is_fresh);
  }

  void deallocate(void* p, std::size_t size, std::size_t align) noexcept {
    process_chunks().deallocate(p, size, align);
  }

  // The pages are not cached.
  void return_to_system(void* p, std::size_t size, std::size_t align) noexcept {
    process_chunks().return_to_system(p, size, align);
  }
  // NOLINTEND(readability-convert-member-functions-to-static, readability-make-member-function-const)
};

using default_source = counting<cached_pages>;

}  // namespace mallard
