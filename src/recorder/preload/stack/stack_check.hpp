// stack_check: a hook for tests, called with each stack that is about to be recorded.
//
// It does nothing in the library itself. A build with MALLARD_STACK_CHECK defines its own check_stack.
#pragma once

#include <cstdint>

#include "mallard/core/attributes.hpp"
#include "recorder/preload/stack/stack_memo.hpp"

namespace mallard::recorder {

#if defined(MALLARD_STACK_CHECK)
void check_stack(const walk_start& start, std::uint32_t context) noexcept;
#else
MALLARD_INLINE void check_stack(const walk_start&, std::uint32_t) noexcept {}
#endif

}  // namespace mallard::recorder
