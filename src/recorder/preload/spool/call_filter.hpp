// call_filter: which system calls the program has forbidden itself by seccomp filters.
//
//     seccomp(filter) --note_filter--> copy of its instructions
//     raw_call(number, ...) --permits_call--> every copy is run on the call; one that kills for it?  --yes-->
//                                                                                      the call is not made
//
// A filter may kill for any call that the program itself never makes, so the recorder asks before each of its
// own. A filter that answers with an error may do so. Filters belong to threads; here they count for all
// of the process and what it forks, but not for what it executes. Without a filter: one load and a branch.
// With one: some hundred instructions a call, of which recording makes few.
#pragma once

#include <atomic>
#include <cstdint>

#include "mallard/core/attributes.hpp"

struct sock_fprog;

namespace mallard::recorder {

// As a filter sees it.
struct system_call {
  std::uint64_t number;
  std::uint64_t arguments[6];
};

// Notes a filter that is in force now. One for which there is no room forbids everything.
void note_filter(const sock_fprog& filter) noexcept;

extern std::atomic<std::uint32_t> filters_noted;
[[nodiscard]] bool filters_permit(const system_call& call) noexcept;

// Whether the program may live on after this call.
[[nodiscard]] MALLARD_INLINE bool permits_call(const system_call& call) noexcept {
  return filters_noted.load(std::memory_order_acquire) == 0 || filters_permit(call);
}

}  // namespace mallard::recorder
