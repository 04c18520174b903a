// Lives of regions: with a block, as all heaps', and empty ones, of which a program with regions makes many.

#include <cstddef>
#include <string_view>

#include "counted.hpp"
#include "lives.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/heap/heap_name.hpp"
#include "mallard/heap/region.hpp"
#include "mallard/heap/region_emulator.hpp"
#include "mallard/heap/stack_pattern.hpp"
#include "scenarios.hpp"

namespace instructions {

namespace {

// What the loop costs.
struct nothing {};

template <class Region>
[[gnu::noinline]] void live_as_roots(std::size_t times) {
  for (; times != 0; --times) {
    [[maybe_unused]] const Region root{};
    clobber();
  }
}

template <class Region>
[[gnu::noinline]] void live_as_children(Region& parent, std::size_t times) {
  for (; times != 0; --times) {
    const Region child(parent, mallard::nesting::ends_with_parent);
    clobber();
  }
}

constexpr std::size_t times = 256;

template <class Region>
void empty_roots(std::string_view name, std::string_view way) {
  {
    const counted here;
    live_as_roots<Region>(times);
  }
  tell({"life, empty", name, way, 1}, times);
}

template <mallard::nestable Region>
void empty_lives(std::string_view name = mallard::heap_name<Region>) {
  empty_roots<Region>(name, "root");
  Region parent;
  {
    const counted here;
    live_as_children(parent, times);
  }
  tell({"life, empty", name, "child", 1}, times);
}

}  // namespace

void lives_of_regions() {
  lives_of<mallard::region>();
  lives_of<mallard::stack_pattern>();
  lives<typed<mallard::region_emulator>>("region_emulator", "typed");
  empty_roots<nothing>("none", "typed");
  empty_lives<mallard::region>();
  empty_lives<mallard::region_emulator>();
}

}  // namespace instructions
