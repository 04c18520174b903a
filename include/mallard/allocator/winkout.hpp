// winkout: builds an object in a heap and lets the heap's release() end it; no destructor runs.
//
//     auto& table = winkout<map>(heap, ...)      heap  [ map | node | node | node | ... ]
//     ... use it ...
//     heap.release()                             heap  [                                ]   O(chunks)
//
// The object lies in the heap. Uses-allocator construction makes it, and every member to which it passes its
// allocator, allocate there as well. Ending the heap's blocks therefore ends all of it without walking the
// elements. There are three kinds of owners:
//
//     winkout<T>(heap, args...)       a heap that can end all blocks: T takes mallard::allocator<?, Heap>
//     winkout<T>(resource, args...)   resource<Heap> of such a heap: T takes std::pmr::polymorphic_allocator
//     winkout<T>(pool, args...)       any other std::pmr::memory_resource with a release()
//
// The object lives until the owner's release(), clear() or destructor, or a rewind() to an older mark;
// nothing else may destroy it. winkout_safe<T> decides at compile time which types are allowed.
// If a constructor throws, the parts already built are destroyed and the block returns to the heap (a
// monotonic heap cannot reuse that room until it is cleared). An exhausted heap throws std::bad_alloc.
// Cost: the allocation and the constructor. As thread-safe as allocating from the owner.
// Seed 000, sections 3 and 4 (AS4, AS6, AS8, AS10, AS12, AS14).
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <span>
#include <type_traits>
#include <utility>

#include "mallard/allocator/allocator.hpp"
#include "mallard/allocator/winkout_safe.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/resource/resource.hpp"

namespace mallard {

// Whether all blocks of an owner can be ended at once. An arbitrary std::pmr::memory_resource does not reveal
// that: its type must.
template <class Owner>
inline constexpr bool ends_all_blocks = releasable<Owner> || clearable<Owner>;

template <class Heap>
inline constexpr bool ends_all_blocks<resource<Heap>> = ends_all_blocks<Heap>;

template <std::derived_from<std::pmr::memory_resource> Owner>
  requires requires(Owner& owner) { owner.release(); }
inline constexpr bool ends_all_blocks<Owner> = true;

namespace detail {

template <class Heap>
struct winkout_allocator {
  using type = allocator<std::byte, Heap>;
};

template <std::derived_from<std::pmr::memory_resource> Owner>
struct winkout_allocator<Owner> {
  using type = std::pmr::polymorphic_allocator<std::byte>;
};

template <class T>
inline constexpr bool is_pair = false;
template <class T, class U>
inline constexpr bool is_pair<std::pair<T, U>> = true;

// The allocator for T objects in an Owner, which must be able to allocate them and to end them.
template <class T, class Owner>
constexpr auto winkout_allocator_of(Owner& owner) {
  constexpr bool is_resource = std::derived_from<Owner, std::pmr::memory_resource>;
  static_assert(heap<Owner> || is_resource,
                "winkout: the first argument is where to build: a heap or a memory resource");
  static_assert(ends_all_blocks<Owner>,
                "winkout: this owner cannot end its blocks all at once; take a heap with release() or "
                "clear(), a mallard::resource of one, or a memory resource with release()");
  static_assert(std::is_object_v<T> && !std::is_array_v<T>,
                "winkout: one object, or T[] with a count; for an array of fixed size take std::array");
  static_assert(winkout_safe<T>,
                "winkout: the destructor of T would never run; build T of containers with "
                "mallard::allocator or std::pmr, or, if it keeps the rules of winkout_safe.hpp, "
                "specialise mallard::winkout_safe<T>");
  using any = typename winkout_allocator<Owner>::type;
  static_assert(takes_memory_from<T, any>,
                "winkout: T takes its memory from another kind of heap than it is built in; give it "
                "mallard::allocator of this heap, or std::pmr for a memory resource");
  if constexpr (is_resource)
    return std::pmr::polymorphic_allocator<std::remove_const_t<T>>(&owner);
  else
    return allocator<std::remove_const_t<T>, Owner>(owner);
}

}  // namespace detail

// Builds a T from `args` and, if T takes one, an allocator of `owner`.
template <class T, class Owner, class... Args>
  requires(!std::is_unbounded_array_v<T>)
[[nodiscard]] T& winkout(Owner& owner, Args&&... args) {
  auto here = detail::winkout_allocator_of<T>(owner);
  // The standard library itself rejects types that lack an allocator constructor, and such pairs.
  using object = std::remove_const_t<T>;
  if constexpr (!std::uses_allocator_v<object, decltype(here)> && !detail::is_pair<object>)
    static_assert(std::is_constructible_v<object, Args...>,
                  "winkout: T has no constructor for these arguments");
  auto* const place = here.allocate(1);
  try {
    return *std::uninitialized_construct_using_allocator(place, here, std::forward<Args>(args)...);
  } catch (...) {
    here.deallocate(place, 1);
    throw;
  }
}

// winkout<T[]>(owner, count): `count` adjacent objects, each value-initialised or, if T takes one, built with
// an allocator of `owner`. For 0 it allocates nothing.
template <class T, class Owner>
  requires std::is_unbounded_array_v<T>
[[nodiscard]] std::span<std::remove_extent_t<T>> winkout(Owner& owner, std::size_t count) {
  auto here = detail::winkout_allocator_of<std::remove_extent_t<T>>(owner);
  if (count == 0) return {};
  auto* const first = here.allocate(count);
  std::size_t built = 0;
  try {
    for (; built != count; ++built) std::uninitialized_construct_using_allocator(first + built, here);
  } catch (...) {
    while (built != 0) std::destroy_at(first + --built);
    here.deallocate(first, count);
    throw;
  }
  return {first, count};
}

}  // namespace mallard
