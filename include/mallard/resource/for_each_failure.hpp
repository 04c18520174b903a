// for_each_failure: runs code with its first request failing, then its second, until none fails.
//
//     mallard::test_resource memory;
//     mallard::for_each_failure(memory, [&] {
//       std::pmr::vector<std::pmr::string> lines(&memory);
//       lines.emplace_back("a line that is too long for a small string");
//     });
//
//     run 1    X                     bad_alloc    nothing may be left
//     run 2    1 X                   bad_alloc    nothing may be left
//     run 3    1 2                   passes: the end
//
// Every path through std::bad_alloc runs once, so a loop finds code that leaks or breaks a guarantee there.
// Anything that a failed run leaves allocated is a leak, reported with the place of its allocation, as are
// writes beside blocks. To check the strong guarantee (the object is unchanged) the body uses its own handler
// and rethrows. The body starts anew each time and must undo its side effects.
// Cost: n + 1 runs for n requests. Seed 000, section 1 (allocators aid testing).
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <new>
#include <utility>

#include "mallard/core/attributes.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/debug/call_place.hpp"
#include "mallard/resource/resource.hpp"
#include "mallard/resource/test_resource.hpp"

namespace mallard {

// Memory that can fail on demand: test_resource, failing<Heap>, and by the second overload resource<> of
// that.
template <class M>
concept can_fail = requires(M& m, const M& c, std::size_t n) {
  m.fail_at(n);
  m.fail_no_more();
  { c.requests() } -> std::same_as<std::size_t>;
};

namespace detail {

// Whether request n was reached, and failed. An exception with another cause is passed on.
template <can_fail Memory, std::invocable Body>
bool run_with_failure(Memory& memory, Body& body, std::size_t n) {
  memory.fail_at(n);
  try {
    body();
  } catch (const std::bad_alloc&) {
    if (memory.requests() < n) {
      memory.fail_no_more();
      throw;
    }
  } catch (...) {
    memory.fail_no_more();
    throw;
  }
  const bool failed = memory.requests() >= n;
  memory.fail_no_more();
  return failed;
}

}  // namespace detail

// How many failures there were, that is, how many requests a run makes. A bad_alloc that `memory` has not
// caused, and any other exception, is passed on.
template <can_fail Memory, std::invocable Body>
MALLARD_NOINLINE std::size_t for_each_failure(Memory& memory, Body body) {
  constexpr bool watches = std::derived_from<Memory, test_resource>;
  const call_place here = call_place::from(__builtin_return_address(0));
  for (std::size_t n = 1;; ++n) {
    std::uint64_t before = 0;
    if constexpr (watches) before = memory.last_number();
    const bool failed = detail::run_with_failure(memory, body, n);
    if constexpr (watches) {
      char when[64];
      std::snprintf(when, sizeof when, "after request %zu failed", n);
      memory.report_damage();
      memory.report_leaks(before, here, failed ? when : nullptr);
    }
    if (!failed) return n - 1;
  }
}

template <heap Heap, std::invocable Body>
  requires can_fail<Heap>
std::size_t for_each_failure(resource<Heap>& memory, Body body) {
  return for_each_failure(memory.heap(), std::move(body));
}

}  // namespace mallard
