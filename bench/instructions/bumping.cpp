// Blocks of 48 bytes of heaps that bump, in chunks that are there: nothing is freed since the last clear.

#include <cstddef>
#include <string_view>

#include "bindings.hpp"
#include "counted.hpp"
#include "mallard.h"
#include "mallard/core/concepts.hpp"
#include "mallard/heap/reap.hpp"
#include "mallard/heap/region.hpp"
#include "mallard/heap/sized_reap.hpp"
#include "scenarios.hpp"

namespace instructions {
namespace {

constexpr std::size_t blocks = 4096;

template <class Allocator>
[[gnu::noinline]] void bump(Allocator& heap) {
  for (std::size_t i = 0; i != blocks; ++i) {
    hidden(heap.allocate());
    clobber();
  }
}

template <class Allocator, class... Args>
void bumps(std::string_view allocator, std::string_view way, Args... args) {
  Allocator heap(args...);
  bump(heap);
  if constexpr (requires { heap.clear(); }) heap.clear();
  {
    const counted here;
    bump(heap);
  }
  tell({"bumping", allocator, way, 1}, blocks);
}

template <class Heap>
void bumps_of() {
  bumps<typed<Heap>>(mallard::heap_name<Heap>, "typed");
}

}  // namespace

void bumping() {
  bumps<typed<none>>("none", "typed");
  bumps_of<mallard::region>();
  bumps_of<mallard::reap>();
  bumps_of<mallard::sized_reap>();
  bumps<in_c>("region", "C", MALLARD_REGION, 0u);
  bumps<in_c>("reap", "C", MALLARD_REAP, 0u);
}

}  // namespace instructions
