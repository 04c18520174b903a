// littering: which heap is littered for an allocator, and how that is called.
//
//     frees its blocks one by one     the allocator itself: its blocks lie between litter
//     ends them all with a pass       the malloc of its process, before it is made: litter in it would end as
//                                     well, but a program with such a region has a malloc that others use
//     is the harness's own memory     nothing
//
// The sizes are the trace's (live_walk.hpp), the litter is harness/litter.hpp.
#pragma once

#include <concepts>
#include <new>

#include "harness/litter.hpp"
#include "replay/run/block_calls.hpp"
#include "replay/run/pass.hpp"

namespace mallard::replay {

// An allocator whose end_pass() ends all its blocks.
template <class C>
concept ends_all_at_once = requires { requires C::ends_all_at_once; };

// An allocator whose first pass is not to count: its memory is the harness's.
template <class C>
concept starts_warm = requires { requires C::starts_warm; };

template <class C>
concept littered_itself = !ends_all_at_once<C> && !starts_warm<C>;

[[nodiscard]] inline op op_of_litter(std::size_t size) noexcept {
  return {size, 0, op_kind::allocate, natural_align_log2(size)};
}

// Litters the allocator behind `c`, which must outlive what is returned.
[[nodiscard]] inline harness::heap_calls calls_of(block_calls& c) noexcept {
  const auto allocate = [](void* self, std::size_t size) noexcept -> void* {
    try {
      return static_cast<block_calls*>(self)->allocate(op_of_litter(size));
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  };
  const auto deallocate = [](void* self, void* p, std::size_t size) noexcept {
    static_cast<block_calls*>(self)->deallocate(p, op_of_litter(size));
  };
  return {&c, allocate, deallocate};
}

}  // namespace mallard::replay
