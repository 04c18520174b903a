// Frames of the shapes that compilers make, and two walks over the same stack from the same registers: by our
// rules, and by libunwind.
#pragma once

#include <ucontext.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "unwind/frame_rule.hpp"

namespace mallard::unwind::test {

struct walked_stack {
  static constexpr std::size_t max_depth = 128;

  std::array<std::uintptr_t, max_depth> pcs{};
  std::size_t depth = 0;
  bool ended_unknown = false;  // for want of a rule that can be followed
  bool steps_agree = true;     // packed rules and the general step say the same
};

struct two_walks {
  walked_stack ours;
  walked_stack theirs;
};

// The calling thread's stack.
stack_range this_stack() noexcept;

// Both from the same registers; allocates nothing, so that a signal handler may call it.
void walk_both(ucontext_t& from, const stack_range& stack, two_walks& out) noexcept;

bool same(const two_walks& walks) noexcept;

// The functions of frames.cpp, which is compiled with and without frame pointers.
using callback = void (*)(void*);

namespace with_pointers {
void plain(int depth, callback inner, void* data);
void with_alloca(std::size_t bytes, callback inner, void* data);
void over_aligned(callback inner, void* data);
void over_aligned_with_alloca(std::size_t bytes, callback inner, void* data);
void with_many_arguments(callback inner, void* data);
}  // namespace with_pointers

namespace without_pointers {
void plain(int depth, callback inner, void* data);
void with_alloca(std::size_t bytes, callback inner, void* data);
void over_aligned(callback inner, void* data);
void over_aligned_with_alloca(std::size_t bytes, callback inner, void* data);
void with_many_arguments(callback inner, void* data);
}  // namespace without_pointers

}  // namespace mallard::unwind::test
