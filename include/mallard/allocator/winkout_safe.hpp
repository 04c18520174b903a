// winkout_safe<T>: whether the memory of a T may end although its destructor has not run.
//
//     heap  [ T | what T's members allocated ... ]  --release()-->  gone, and nothing else was lost
//
// True for trivially destructible types, and for the standard containers that take their memory from a heap.
// For a type of your own it is a promise, made by a specialisation:
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
// So a destructor that only frees memory of the heap may be left out; one that does anything else may not.
// The standard allows it: the life of an object ends when its memory is reused or released.
// Seed 000, sections 3 ("winked out") and 4.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <memory>
#include <memory_resource>
#include <optional>
#include <scoped_allocator>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "mallard/allocator/allocator.hpp"
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

// The standard containers that take their memory from a heap: one is safe if its elements are.
//
//     vector<list<int, allocator<int, H>>, allocator<..., H>>      safe: all of it is H's
//     vector<string, allocator<string, H>>                         not: the strings are malloc's
//     map<int, basic_string<..., allocator<char, G>>, ..., H>      not: the strings are G's
//     pmr::vector<pmr::string>                                     safe, if all of one resource
//
// The types prove that a container allocates from a heap and that its elements, recursively, take their
// memory from a heap of the same type. They cannot prove that it is the same heap: that remains the program's
// duty. std::pmr containers pass their resource on to their elements, and so do containers with a
// std::scoped_allocator_adaptor over mallard::allocator; under a plain mallard::allocator the program must
// pass the heap to each element. Elements in another heap survive the release until that heap ends.
// Comparisons and hash functions must be safe as well. No cost at run time.
// Seed 000, section 3.

// Whether memory of an allocator of type A ends with a heap.
template <class A>
inline constexpr bool is_heap_allocator = false;

template <class T, class Heap>
inline constexpr bool is_heap_allocator<allocator<T, Heap>> = true;

template <class T>
inline constexpr bool is_heap_allocator<std::pmr::polymorphic_allocator<T>> = true;

template <class A>
inline constexpr bool is_heap_allocator<std::scoped_allocator_adaptor<A>> = is_heap_allocator<A>;

namespace detail {

// Whether a container with allocator A may be winked out together with its elements, of types `Ts`.
template <class A, class... Ts>
inline constexpr bool winkout_safe_elements =
    is_heap_allocator<A> && ((winkout_safe<Ts> && takes_memory_from<Ts, A>) && ...);

}  // namespace detail

// --- containers -----------------------------------------------------------------------------

template <class C, class Traits, class A>
inline constexpr bool winkout_safe<std::basic_string<C, Traits, A>> = detail::winkout_safe_elements<A, C>;

template <class T, class A>
inline constexpr bool winkout_safe<std::vector<T, A>> = detail::winkout_safe_elements<A, T>;

template <class T, class A>
inline constexpr bool winkout_safe<std::deque<T, A>> = detail::winkout_safe_elements<A, T>;

template <class T, class A>
inline constexpr bool winkout_safe<std::list<T, A>> = detail::winkout_safe_elements<A, T>;

template <class T, class A>
inline constexpr bool winkout_safe<std::forward_list<T, A>> = detail::winkout_safe_elements<A, T>;

template <class K, class Less, class A>
inline constexpr bool winkout_safe<std::set<K, Less, A>> =
    winkout_safe<Less> && detail::winkout_safe_elements<A, K>;

template <class K, class Less, class A>
inline constexpr bool winkout_safe<std::multiset<K, Less, A>> =
    winkout_safe<Less> && detail::winkout_safe_elements<A, K>;

template <class K, class T, class Less, class A>
inline constexpr bool winkout_safe<std::map<K, T, Less, A>> =
    winkout_safe<Less> && detail::winkout_safe_elements<A, K, T>;

template <class K, class T, class Less, class A>
inline constexpr bool winkout_safe<std::multimap<K, T, Less, A>> =
    winkout_safe<Less> && detail::winkout_safe_elements<A, K, T>;

template <class K, class Hash, class Equal, class A>
inline constexpr bool winkout_safe<std::unordered_set<K, Hash, Equal, A>> =
    winkout_safe<Hash> && winkout_safe<Equal> && detail::winkout_safe_elements<A, K>;

template <class K, class Hash, class Equal, class A>
inline constexpr bool winkout_safe<std::unordered_multiset<K, Hash, Equal, A>> =
    winkout_safe<Hash> && winkout_safe<Equal> && detail::winkout_safe_elements<A, K>;

template <class K, class T, class Hash, class Equal, class A>
inline constexpr bool winkout_safe<std::unordered_map<K, T, Hash, Equal, A>> =
    winkout_safe<Hash> && winkout_safe<Equal> && detail::winkout_safe_elements<A, K, T>;

template <class K, class T, class Hash, class Equal, class A>
inline constexpr bool winkout_safe<std::unordered_multimap<K, T, Hash, Equal, A>> =
    winkout_safe<Hash> && winkout_safe<Equal> && detail::winkout_safe_elements<A, K, T>;

// --- objects inside one object --------------------------------------------------------------

template <class T, class U>
inline constexpr bool winkout_safe<std::pair<T, U>> = winkout_safe<T> && winkout_safe<U>;
template <class T, class U, class A>
inline constexpr bool takes_memory_from<std::pair<T, U>, A> =
    takes_memory_from<T, A> && takes_memory_from<U, A>;

template <class... Ts>
inline constexpr bool winkout_safe<std::tuple<Ts...>> = (winkout_safe<Ts> && ...);
template <class... Ts, class A>
inline constexpr bool takes_memory_from<std::tuple<Ts...>, A> = (takes_memory_from<Ts, A> && ...);

template <class... Ts>
inline constexpr bool winkout_safe<std::variant<Ts...>> = (winkout_safe<Ts> && ...);
template <class... Ts, class A>
inline constexpr bool takes_memory_from<std::variant<Ts...>, A> = (takes_memory_from<Ts, A> && ...);

template <class T>
inline constexpr bool winkout_safe<std::optional<T>> = winkout_safe<T>;
template <class T, class A>
inline constexpr bool takes_memory_from<std::optional<T>, A> = takes_memory_from<T, A>;

template <class T, std::size_t N>
inline constexpr bool winkout_safe<std::array<T, N>> = winkout_safe<T>;
template <class T, std::size_t N, class A>
inline constexpr bool takes_memory_from<std::array<T, N>, A> = takes_memory_from<T, A>;

}  // namespace mallard
