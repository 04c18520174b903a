// winkout_safe<T>: whether the memory of a T may end although its destructor has not run.
//
//     heap  [ T | what T's members allocated ... ]  --release()-->  gone, and nothing else was lost
//
// True for trivially destructible types; winkout_containers.hpp adds the standard containers that take
// their memory from a heap. For a type of one's own it is a promise, made by a specialisation:
//
//     struct order { std::pmr::vector<line> lines; ... };
//     template <>
//     inline constexpr bool mallard::winkout_safe<order> = true;
//
// A type may promise it if, for every object of it that is built in a heap,
//
//   memory     it owns nothing but memory, all of it from that same heap: also what it allocates later,
//              and what its members own. So it takes an allocator (it has an `allocator_type`, and
//              constructors to match), and hands it on to its members;
//   others     nobody but its members notices its end: no file, lock, thread, counter or list entry of
//              another object waits for the destructor;
//   afterwards nobody uses it, or refers to it, once the heap has ended its blocks.
//
// A destructor that only frees memory of the heap may so be left out; one that does anything else may
// not. The standard allows it: the life of an object ends when its memory is reused or released.
// Seed 000, sections 3 ("winked out") and 4.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

#include "mallard/core/version.hpp"

namespace mallard {

template <class T>
inline constexpr bool winkout_safe = std::is_trivially_destructible_v<T>;

template <class T>
inline constexpr bool winkout_safe<const T> = winkout_safe<T>;

template <class T>
inline constexpr bool winkout_safe<T[]> = winkout_safe<T>;

template <class T, std::size_t N>
inline constexpr bool winkout_safe<T[N]> = winkout_safe<T>;

// Whether a T built for an allocator of type A takes its memory from it: true if T takes such an allocator or
// none at all. Arrays and cv-qualified types follow their element types.
template <class T, class A>
inline constexpr bool takes_memory_from = true;

template <class T, class A>
  requires requires { typename T::allocator_type; }
inline constexpr bool takes_memory_from<T, A> = std::uses_allocator_v<T, A>;

template <class T, class A>
inline constexpr bool takes_memory_from<const T, A> = takes_memory_from<T, A>;

template <class T, class A>
inline constexpr bool takes_memory_from<T[], A> = takes_memory_from<T, A>;

template <class T, std::size_t N, class A>
inline constexpr bool takes_memory_from<T[N], A> = takes_memory_from<T, A>;

}  // namespace mallard
