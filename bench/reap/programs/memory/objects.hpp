// make, make_array, drop: typed objects in a region.
//
//     node* n = make<node>(r);               drop(r, n);
//     value* v = make_array<value>(r, 12);   drop_array(r, v, 12);
//     text* t = make_tailed<text>(r, 5);     drop_tailed(r, t, 5);      an object and five bytes behind it
//
// No destructor runs, so the types have none to run. Arrays of nothing are null and take no block.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "programs/memory/region_kinds.hpp"

namespace mallard::programs {

template <class T, class... Args>
[[nodiscard]] T* make(region& r, Args&&... args) {
  static_assert(std::is_trivially_destructible_v<T>);
  return ::new (r.allocate(sizeof(T), alignof(T))) T{std::forward<Args>(args)...};
}

template <class T>
void drop(region& r, T* object) noexcept {
  r.free(object, sizeof(T), alignof(T));
}

template <class T>
[[nodiscard]] T* make_array(region& r, std::size_t count) {
  static_assert(std::is_trivially_destructible_v<T>);
  if (count == 0) return nullptr;
  T* const first = static_cast<T*>(r.allocate(count * sizeof(T), alignof(T)));
  std::uninitialized_value_construct_n(first, count);
  return first;
}

template <class T>
void drop_array(region& r, T* first, std::size_t count) noexcept {
  if (count != 0) r.free(first, count * sizeof(T), alignof(T));
}

template <class T>
[[nodiscard]] T* make_tailed(region& r, std::size_t tail) {
  static_assert(std::is_trivially_destructible_v<T>);
  return ::new (r.allocate(sizeof(T) + tail, alignof(T))) T{};
}

template <class T>
void drop_tailed(region& r, T* object, std::size_t tail) noexcept {
  r.free(object, sizeof(T) + tail, alignof(T));
}

}  // namespace mallard::programs
