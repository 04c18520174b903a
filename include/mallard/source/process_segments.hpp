// process_segments(): the segments of the process, which heaps share unless they are given others.
//
//     segment_heap --+
//     segment_heap --+--> process_segments() --> segments.hpp
//
//     mallard::process_segments().set_keep_time(0);     keeps nothing of what is free from now on
//     mallard::process_segments().trim(0);              gives what is free now back to the system
//
// They exist before main and after every destructor, and shared libraries share them, as the chunk cache of
// the process (default_source.hpp). fork() may be called while other threads use them: the child finds them
// intact, and may go on with each heap that nobody was in. For that, who asks for them has fork handlers,
// under the same conditions as those of the cache. A malloc on segments of its own includes this header, too,
// but asks for nothing here, and has none. Cost: none beside the segments'.
#pragma once

#include <concepts>
#include <type_traits>

#include "mallard/core/attributes.hpp"
#include "mallard/source/fork_handlers.hpp"
#include "mallard/source/segments.hpp"

namespace mallard {
namespace detail {

// Shared as a whole: libraries that share the segments share the list of their handlers.
struct process_segments_state {
  segments all;
  fork_list forks;
};

MALLARD_VISIBLE inline constinit process_segments_state the_process_segments;
static_assert(std::is_trivially_destructible_v<process_segments_state>, "static heaps end after it would");

// A template, so that the handlers exist where process_segments() is called and nowhere else; of a class of
// their own, as their attribute asks for one that is known here.
template <class Segments>
struct MALLARD_HIDDEN segments_over_forks {
  struct handlers : fork_handlers<segments_over_forks> {};

  static fork_list& list() noexcept { return the_process_segments.forks; }
  static fork_handlers<segments_over_forks>& own() noexcept { return registered; }
  static void before_fork() noexcept { the_process_segments.all.before_fork(); }
  static void after_fork() noexcept { the_process_segments.all.after_fork(); }
  static void after_fork_in_child() noexcept { after_fork(); }

  MALLARD_FIRST_OF_ALL static inline handlers registered;
};

}  // namespace detail

template <std::same_as<segments> Segments = segments>
[[nodiscard]] constexpr Segments& process_segments() noexcept {
  static_cast<void>(&detail::segments_over_forks<Segments>::registered);
  return detail::the_process_segments.all;
}

}  // namespace mallard
