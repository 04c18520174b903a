#include "harness/work.hpp"

#include <sys/prctl.h>

#include <csignal>

#include "harness/memory_meter.hpp"

namespace mallard::harness {
namespace {

row_status status_of(work_state state) {
  switch (state) {
    case work_state::done:
      return row_status::ok;
    case work_state::out_of_memory:
      return row_status::out_of_memory;
    case work_state::unavailable:
      return row_status::skipped;
    case work_state::unfinished:
    case work_state::failed:
      break;
  }
  return row_status::failed;
}

}  // namespace

std::string_view name_of(row_status s) {
  switch (s) {
    case row_status::ok:
      return "ok";
    case row_status::out_of_memory:
      return "out_of_memory";
    case row_status::skipped:
      return "skipped";
    case row_status::failed:
      return "failed";
  }
  return "";
}

ending ending_of(const work_report& report, const outcome& end) {
  if (report.state == work_state::done && end.clean()) return {};
  if (end.signal == SIGKILL)
    return {row_status::out_of_memory, "the kernel killed it, most likely for want of memory"};
  if (!end.clean() || report.state == work_state::unfinished) return {row_status::failed, describe(end)};
  return {status_of(report.state), report.reason.data()};
}

void end_with_parent() noexcept { ::prctl(PR_SET_PDEATHSIG, SIGKILL); }

bool detail::has_malloc(work_report& report, const foreign_malloc* needed) {
  const std::string error = needed == nullptr ? std::string() : malloc_error(*needed);
  if (!error.empty()) report.refuse(work_state::unavailable, error);
  return error.empty();
}

bool detail::limit_memory(work_report& report, std::uint64_t memory_limit) {
  if (limit_data(memory_limit)) return true;
  report.refuse(work_state::failed, "the memory limit could not be set");
  return false;
}

}  // namespace mallard::harness
