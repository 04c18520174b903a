// stack_arena: monotonic memory that begins inside the object itself.
//
//     stack  [ ... | stack_arena [ cursor | b b b b |..... Bytes inside .....] | ... ]
//                                              when these are full: chunks of the upstream, as monotonic's
//
// Blocks that fit into the internal bytes cost no request to an upstream, and lie on the stack if the arena
// does; further blocks come from the upstream as in monotonic. clear(), release() and rewind() return to the
// internal bytes, the topmost block grows and shrinks in place, deallocate is empty. The internal bytes count
// in usage().held, but not in what the upstream counts; nothing writes to them before a block does.
// Invariant: a block inside is aligned to default_align without padding. Cost: monotonic's. Not synchronised.
// For a few KiB: a stack has a few MiB, and nothing checks that.
// Seed 000, section 3 (monotonic allocators) and 4 (AS3 to AS6).
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/growth.hpp"
#include "mallard/heap/monotonic.hpp"
#include "mallard/source/default_source.hpp"

namespace mallard {

namespace detail {

// A base, so that the bytes are there before the heap over them, and after it. Not initialised.
template <std::size_t Bytes>
struct bytes_inside {
  bytes_inside() noexcept {}  // NOLINT(modernize-use-equals-default): `= default` would write zeros
  alignas(default_align) std::array<std::byte, Bytes> inside_;
};

}  // namespace detail

template <std::size_t Bytes, heap Upstream = default_source, growth_policy Growth = monotonic_growth>
  requires(Bytes > 0)
class basic_stack_arena : private detail::bytes_inside<Bytes>, public basic_monotonic<Upstream, Growth> {
 public:
  // `args` construct the upstream.
  template <class... Args>
    requires constructible_as_root<Upstream, Args...>
  explicit basic_stack_arena(Args&&... args)
      : basic_monotonic<Upstream, Growth>(std::span<std::byte>(this->inside_), std::forward<Args>(args)...) {}
};

template <std::size_t Bytes>
using stack_arena = basic_stack_arena<Bytes>;

template <std::size_t Bytes>
inline constexpr std::string_view heap_name<basic_stack_arena<Bytes>> = "stack_arena";

}  // namespace mallard
