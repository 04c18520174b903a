// work_report and ending: what a worker says of its work, and what that makes of its row in a table.
//
//     worker --do_work--> work_report on a shared page --+
//     kernel -----------> outcome of the process --------+--ending_of--> row_status and a reason
//
// The report is plain data in shared memory, so that what a worker had written survives its crash;
// `state` is written last. Nothing here allocates in the worker.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "harness/foreign_malloc.hpp"
#include "harness/launcher.hpp"

namespace mallard::harness {

enum class work_state : std::uint8_t { unfinished, done, out_of_memory, failed, unavailable };

struct work_report {
  work_state state = work_state::unfinished;
  std::array<char, 256> reason{};  // why it is not done; ends with 0

  void refuse(work_state why, std::string_view text) noexcept {
    const std::size_t length = text.copy(reason.data(), reason.size() - 1);
    reason[length] = '\0';
    state = why;
  }
};

// `failed` is a broken allocator: its check did not pass, or it crashed.
enum class row_status { ok, out_of_memory, skipped, failed };

[[nodiscard]] std::string_view name_of(row_status s);

struct ending {
  row_status status = row_status::ok;
  std::string reason;
};

[[nodiscard]] ending ending_of(const work_report& report, const outcome& end);

// No worker outlives the tool that waits for it. To be called first in a worker.
void end_with_parent() noexcept;

namespace detail {

// Whether the malloc in force is the one; else the report says so.
[[nodiscard]] bool has_malloc(work_report& report, const foreign_malloc* needed);

// Whether memory is limited now; else the report says so.
[[nodiscard]] bool limit_memory(work_report& report, std::uint64_t memory_limit);

}  // namespace detail

// Does a worker's work under the malloc it needs, if any, and a limit on its private writable memory in
// bytes; what goes wrong is in the report. `before` -> bool comes first and is not limited; where it is
// false, it has said why.
template <class Before, class Work>
void do_work(work_report& report, const foreign_malloc* needed, std::uint64_t memory_limit, Before before,
             Work work) {
  try {
    if (detail::has_malloc(report, needed) && before() && detail::limit_memory(report, memory_limit)) work();
  } catch (const std::bad_alloc&) {
    report.refuse(work_state::out_of_memory, "std::bad_alloc");
  } catch (const std::exception& e) {
    report.refuse(work_state::failed, e.what());
  }
}

template <class Work>
void do_work(work_report& report, const foreign_malloc* needed, std::uint64_t memory_limit, Work work) {
  do_work(report, needed, memory_limit, [] { return true; }, work);
}

}  // namespace mallard::harness
