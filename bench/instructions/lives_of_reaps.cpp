// Lives of reaps: with a pair, as all heaps', and empty ones; and of reaps beside regions those with a few
// blocks, as scopes of a program have them, and clears of as many.

#include <cstddef>
#include <string_view>

#include "counted.hpp"
#include "lives.hpp"
#include "mallard/heap/reap.hpp"
#include "mallard/heap/region.hpp"
#include "mallard/heap/sized_reap.hpp"
#include "scenarios.hpp"

namespace instructions {
namespace {

constexpr std::size_t few = 8;

template <class Region>
[[gnu::noinline]] void clear_often(Region& region) {
  for (std::size_t i = 0; i != region_lives; ++i) {
    fill(region, few);
    region.clear();
    clobber();
  }
}

template <class Region>
void clears(std::string_view name, std::string_view way) {
  Region region;
  clear_often(region);
  {
    const counted here;
    clear_often(region);
  }
  tell({"clear, eight blocks", name, way, 1}, region_lives);
}

template <mallard::nestable Region>
void short_lives(std::string_view name = mallard::heap_name<Region>) {
  roots<few, Region>("life, eight blocks", name, "root");
  children<few, Region>("life, eight blocks", name);
  clears<Region>(name, "root");
}

}  // namespace

void lives_of_reaps() {
  lives_of<mallard::reap>();
  lives_of<mallard::sized_reap>();
  empty_lives<mallard::reap>("reap");
  empty_lives<mallard::sized_reap>("sized_reap");
  roots<few, nothing>("life, eight blocks", "none", "typed");
  clears<nothing>("none", "typed");
  short_lives<mallard::region>();
  short_lives<mallard::reap>();
  short_lives<mallard::sized_reap>();
}

}  // namespace instructions
