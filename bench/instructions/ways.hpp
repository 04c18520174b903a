// The pairs of one heap in every way to it.
#pragma once

#include <string_view>

#include "contestants.hpp"
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

}  // namespace instructions
