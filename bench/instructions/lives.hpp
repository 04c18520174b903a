// Lives of heaps: construct one, take one block and give it back, destroy it.
//
// Counted after the same lives have been led before: what the process keeps from one pool for the next,
// in a cache of chunks or in malloc, is there. Instructions in the kernel are not counted, so it is
// told whether there were any.
#pragma once

#include <cstddef>
#include <string_view>

#include "bindings.hpp"
#include "counted.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/resource/resource.hpp"

namespace instructions {

template <class Allocator>
[[gnu::noinline]] void live(std::size_t times) {
  for (; times != 0; --times) {
    Allocator heap;
    clobber();
    void* const p = hidden(heap.allocate());
    clobber();
    heap.deallocate(p);
    clobber();
  }
}

template <class Allocator>
void lives(std::string_view allocator, std::string_view way) {
  constexpr std::size_t times = 256;
  live<Allocator>(times);
  {
    const counted here;
    live<Allocator>(times);
  }
  tell({"life", allocator, way, 1}, times, "system calls");
}

template <class Heap>
void lives_of(std::string_view name = mallard::heap_name<Heap>) {
  lives<typed<Heap>>(name, "typed");
  lives<virtually<mallard::resource<Heap>>>(name, "pmr");
}

}  // namespace instructions
