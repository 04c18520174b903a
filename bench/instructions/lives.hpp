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
#include "mallard/core/block.hpp"
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

// Lives of regions: construct one, as a root or as a child, allocate some blocks of 48 bytes, destroy it.

// What the loop costs.
struct nothing {
  [[gnu::always_inline]] mallard::block allocate(std::size_t, std::size_t) noexcept {
    return {this, item_size};
  }
  [[gnu::always_inline]] void clear() noexcept {}
};

inline constexpr std::size_t region_lives = 256;

template <class Region>
[[gnu::always_inline]] inline void fill(Region& region, std::size_t blocks) {
  for (; blocks != 0; --blocks) {
    hidden(region.allocate(item_size, item_align).data);
    clobber();
  }
}

template <std::size_t Blocks, class Region>
[[gnu::noinline]] void live_as_roots() {
  for (std::size_t i = 0; i != region_lives; ++i) {
    [[maybe_unused]] Region root{};
    clobber();
    fill(root, Blocks);
  }
}

template <std::size_t Blocks, class Region>
[[gnu::noinline]] void live_as_children(Region& parent) {
  for (std::size_t i = 0; i != region_lives; ++i) {
    Region child(parent, mallard::nesting::ends_with_parent);
    clobber();
    fill(child, Blocks);
  }
}

template <std::size_t Blocks, class Region>
void roots(std::string_view scenario, std::string_view name, std::string_view way) {
  live_as_roots<Blocks, Region>();
  {
    const counted here;
    live_as_roots<Blocks, Region>();
  }
  tell({scenario, name, way, 1}, region_lives);
}

template <std::size_t Blocks, mallard::nestable Region>
void children(std::string_view scenario, std::string_view name) {
  Region parent;
  live_as_children<Blocks>(parent);
  {
    const counted here;
    live_as_children<Blocks>(parent);
  }
  tell({scenario, name, "child", 1}, region_lives);
}

template <mallard::nestable Region>
void empty_lives(std::string_view name) {
  roots<0, Region>("life, empty", name, "root");
  children<0, Region>("life, empty", name);
}

}  // namespace instructions
