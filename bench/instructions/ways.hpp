// The pairs of one heap in every way to it, and of all of a group.
#pragma once

#include <string_view>

#include "contestants.hpp"
#include "harness/allocator/own_heaps.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/resource/resource.hpp"
#include "pairs.hpp"

namespace instructions {

template <class Heap>
void typed_pairs(std::string_view name) {
  pairs<typed<Heap>>(name, "typed");
  pairs<sized<Heap>>(name, "run-time size");
  pairs<aligned<Heap>>(name, "run-time alignment");
  pairs<sized_and_aligned<Heap>>(name, "run-time size and alignment");
}

template <class Heap>
void pairs_of(std::string_view name = mallard::heap_name<Heap>) {
  typed_pairs<Heap>(name);
  pairs<virtually<mallard::resource<Heap>>>(name, "pmr");
}

// Of the library's heaps that are counted in one translation unit.
template <mallard::harness::counted_with Group>
void pairs_of_group() {
  mallard::harness::for_each_own_heap([]<class Line>(Line) {
    if constexpr (Line::group == Group) pairs_of<typename Line::type>();
  });
}

}  // namespace instructions
