// stack_bounds: the bounds of the stack that a thread runs on, so that no walk reads beyond it.
#pragma once

#include <cstdint>

#include "recorder/preload/unwind/frame_rule.hpp"

namespace mallard::recorder {

// The stack around `sp`: from /proc/self/maps, some 10 us; where that cannot be read, the page of `sp`.
// The main thread's, which grows, begins where the mapping below it ends. Makes no libc call that a
// thread could be cancelled in, and keeps errno.
[[nodiscard]] stack_range find_stack(std::uintptr_t sp) noexcept;

}  // namespace mallard::recorder
