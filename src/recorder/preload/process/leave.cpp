// _exit and _Exit: the ends of a process at which no destructor runs, so that its CPU time is noted here. A
// vfork'ed child ends for itself alone.
#include <unistd.h>

#include "recorder/preload/event/observe.hpp"
#include "recorder/preload/process/real_process.hpp"
#include "recorder/preload/spool/cpu_time.hpp"
#include "recorder/preload/spool/raw_calls.hpp"

namespace mallard::recorder {
namespace {

[[noreturn]] void leave(int status) noexcept {
  spool_header* spool = current_spool();
  if (spool != nullptr && spool->attached == raw_process()) spool->end_cpu_ns = cpu_ns_of_process();
  real_process().leave(status);
  __builtin_unreachable();
}

}  // namespace
}  // namespace mallard::recorder

MALLARD_INTERPOSED void _exit(int status) { mallard::recorder::leave(status); }
MALLARD_INTERPOSED void _Exit(int status) noexcept { mallard::recorder::leave(status); }
