// winkout_safe for the standard containers: a container is safe if its elements are.
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
#pragma once

#include <array>
#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <memory_resource>
#include <optional>
#include <scoped_allocator>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "mallard/allocator/allocator.hpp"
#include "mallard/allocator/winkout_safe.hpp"

namespace mallard {

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
