// allocation_result: what allocate_at_least gives: C++23's own where it is there, else the same.
#pragma once

#include <cstddef>
#include <memory>

namespace mallard {

#if defined(__cpp_lib_allocate_at_least)
template <class Pointer>
using allocation_result = std::allocation_result<Pointer, std::size_t>;
#else
// `count` objects fit behind `ptr`.
template <class Pointer>
struct allocation_result {
  Pointer ptr;
  std::size_t count;
};
#endif

}  // namespace mallard
