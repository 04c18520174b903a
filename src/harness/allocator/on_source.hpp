// on_source<Heap, Source>: the heap that a heap of the library would be over another source.
//
//     basic_pool<basic_monotonic<default_source>>  -->  basic_pool<basic_monotonic<Source>>
//
// Found by taking the type apart: the registry names heaps, not templates, and a layer may stand on layers. A
// heap whose parameters have none of the forms below does not compile: a form has to be added.
#pragma once

#include <type_traits>

#include "mallard/source/default_source.hpp"

namespace mallard::harness {
namespace detail {

template <class T, class Source>
struct over {
  using type = T;
};

template <class Source>
struct over<default_source, Source> {
  using type = Source;
};

template <template <class...> class T, class... Parts, class Source>
struct over<T<Parts...>, Source> {
  using type = T<typename over<Parts, Source>::type...>;
};

template <template <class, auto...> class T, class A, auto... Numbers, class Source>
  requires(sizeof...(Numbers) != 0)
struct over<T<A, Numbers...>, Source> {
  using type = T<typename over<A, Source>::type, Numbers...>;
};

template <template <class, class, auto...> class T, class A, class B, auto... Numbers, class Source>
  requires(sizeof...(Numbers) != 0)
struct over<T<A, B, Numbers...>, Source> {
  using type = T<typename over<A, Source>::type, B, Numbers...>;
};

template <template <class, class, class, class, class, auto...> class T, class A, class B, class C, class D,
          class E, auto... Numbers, class Source>
  requires(sizeof...(Numbers) != 0)
struct over<T<A, B, C, D, E, Numbers...>, Source> {
  using type = T<typename over<A, Source>::type, B, C, D, E, Numbers...>;
};

}  // namespace detail

template <class Heap, class Source>
  requires(!std::is_same_v<typename detail::over<Heap, Source>::type, Heap>)
using on_source = typename detail::over<Heap, Source>::type;

}  // namespace mallard::harness
