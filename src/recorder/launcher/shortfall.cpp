#include "recorder/launcher/shortfall.hpp"

#include <sys/syscall.h>

#include <csignal>

#include "journal/drain/spool_contexts.hpp"

namespace mallard::recorder {
namespace {

std::string name_of_call(std::uint32_t number) {
  switch (number) {
    case SYS_rt_sigprocmask:
      return "rt_sigprocmask";
    case SYS_futex:
      return "futex";
    case SYS_nanosleep:
      return "nanosleep";
    case SYS_mmap:
      return "mmap";
    case SYS_mremap:
      return "mremap";
    case SYS_gettid:
      return "gettid";
    case SYS_clock_gettime:
      return "clock_gettime";
    default:
      return "number " + std::to_string(number);
  }
}

constexpr char way_out[] = "; unrecorded, the program goes on: record it without its filter";

// Whether the program died of what the recorder did in it; empty if not.
std::string find_own_fault(const journal::spool_header& spool, const ending& end) {
  const bool in_a_call = spool.open_calls != 0;
  if (end.strict && (end.signal == SIGSEGV || (end.signal == SIGKILL && in_a_call)))
    return "the recorder has ended the program, which entered seccomp's strict mode by a call that the "
           "recorder does not see" +
           std::string(way_out);
  if (end.signal == SIGSYS && in_a_call)
    return "the recorder has ended the program: a seccomp filter forbids its system call " +
           name_of_call(spool.latest_call) + way_out;
  return {};
}

}  // namespace

std::string find_shortfall(const journal::spool_header& spool, const std::optional<ending>& end) {
  if (end) {
    if (std::string fault = find_own_fault(spool, *end); !fault.empty()) return fault;
  }
  if (spool.limited == journal::limitation::strict_mode)
    return "recording ends where the program limited its system calls (seccomp's strict mode)";
  if (spool.limited == journal::limitation::clock)
    return "recording ends where the program gave up reading the clock (PR_SET_TSC)";
  if (spool.gave_up != 0)
    return "recording ended early: the program waited for half a minute in which the recorder read nothing";
  if (spool.contexts_wanting != 0)
    return std::to_string(spool.contexts_wanting) +
           " times there was no room for a stack, in memory or on disk; events there have none, or a part";
  return {};
}

std::string find_unseen(journal::spool_header& spool) {
  if (spool.bypassed != 0)
    return "the program is linked with a malloc of its own; what that allocates is not recorded";
  if (const std::uint64_t place = spool.deep_bound; place != 0)
    return std::string(journal::name_in(&spool, place)) +
           " was opened with RTLD_DEEPBIND; its allocations are not recorded";
  return {};
}

}  // namespace mallard::recorder
