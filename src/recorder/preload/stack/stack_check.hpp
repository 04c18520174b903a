// stack_check: where a test's build of this library looks at each stack that is about to be recorded.
//
// The library itself has nothing here. A build with MALLARD_STACK_CHECK brings its own check_stack.
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
