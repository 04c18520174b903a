// What the rules of a plan have counted, when the program ends.
//
//     MALLARD_MALLOC_PLAN_COUNTERS=1        to stderr
//     MALLARD_MALLOC_PLAN_COUNTERS=/path    to the end of a file, which children share
//
// A line of JSON a rule. Counting takes a slow path for every call and free, which a program without it does
// not; figures of threads are added without a lock. docs/malloc.md describes the members.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "malloc/bump_pool.hpp"
#include "malloc/routes.hpp"

namespace mallard::malloc_library {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;

// As it was at the beginning: some programs change their environment. Empty: nobody asks.
constinit char wanted_path[4096]{};

void tell(int file) noexcept {
  char line[320];
  for (std::uint32_t i = 0; i != the_plan.rules; ++i) {
    const route_counts& c = the_plan.counts[i];
    const int length = ::snprintf(
        line, sizeof line,
        "{\"mallard_plan\": 1, \"process\": %d, \"rule\": %u, \"hits\": %llu, \"fallbacks\": %llu, "
        "\"peak_bytes\": %llu, \"live_bytes\": %llu, \"pools\": %llu}\n",
        ::getpid(), i == 0 ? 0 : the_plan.routes[i].number,
        static_cast<unsigned long long>(c.hits.load(relaxed)),
        static_cast<unsigned long long>(c.fallbacks.load(relaxed)),
        static_cast<unsigned long long>(c.peak.load(relaxed)),
        static_cast<unsigned long long>(c.live.load(relaxed)),
        static_cast<unsigned long long>(c.pools.load(relaxed)));
    if (length > 0) (void)!::write(file, line, static_cast<std::size_t>(length));
  }
}

[[gnu::destructor(103)]] void tell_at_exit() noexcept {
  if (!is_routed() || the_plan.counts == nullptr) return;
  const int saved_errno = errno;
  if (::strchr(wanted_path, '/') == nullptr) {
    tell(STDERR_FILENO);
  } else if (const int file = ::open(wanted_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
             file >= 0) {
    tell(file);
    ::close(file);
  }
  errno = saved_errno;
}

}  // namespace

bool counts_wanted() noexcept {
  const char* const text = ::secure_getenv("MALLARD_MALLOC_PLAN_COUNTERS");
  if (text == nullptr || *text == '\0' || ::strcmp(text, "0") == 0) return false;
  (void)::snprintf(wanted_path, sizeof wanted_path, "%s", text);
  return true;
}

void count_hit(const route& r, bool is_fallback) noexcept {
  route_counts& c = the_plan.counts[&r - the_plan.routes];
  (is_fallback ? c.fallbacks : c.hits).fetch_add(1, relaxed);
}

void count_live(const segment& s, std::int64_t bytes) noexcept {
  if (s.keeper == &static_cast<heap*>(const_cast<void*>(s.owner))->own_slabs()) return;  // of no rule
  const std::uint32_t number = s.index == bump_pool::mixed ? static_cast<const bump_pool*>(s.keeper)->number
                                                           : static_cast<const pool*>(s.keeper)->number;
  route_counts& c = the_plan.counts[the_plan.rules_of_pools[number]];
  const std::uint64_t live =
      c.live.fetch_add(static_cast<std::uint64_t>(bytes), relaxed) + static_cast<std::uint64_t>(bytes);
  for (std::uint64_t peak = c.peak.load(relaxed); static_cast<std::int64_t>(live - peak) > 0;)
    if (c.peak.compare_exchange_weak(peak, live, relaxed)) break;
}

}  // namespace mallard::malloc_library
