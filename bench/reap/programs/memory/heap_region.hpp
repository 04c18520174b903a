// heap_region: a region of a program, over any heap that nests.
//
//     region work(parent);                 a child of `parent`, which ends before it
//     void* p = work.allocate(24, 8);      never null: a program that gets no memory ends
//     work.free(p, 24, 8);                 one block ends, where the build frees blocks one by one
//     work.clear();                        all blocks end, the region goes on
//
// The programs free each block that they know to be dead in every build; `Frees` says whether anything
// comes of it. Where it is false the calls are empty, and blocks end with their region.
// Not synchronised. Cost: the heap's own. Seed 002, sections 4.2 and 7.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "mallard/core/block.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/heap/region_emulator.hpp"

namespace mallard::programs {

[[noreturn]] inline void end_without_memory() noexcept {
  std::fputs("out of memory\n", stderr);
  std::exit(3);
}

template <nestable Heap, bool Frees>
class heap_region {
 public:
  static constexpr bool frees = Frees;
  static constexpr bool is_over_malloc = std::same_as<Heap, mallard::region_emulator>;

  heap_region() = default;
  explicit heap_region(heap_region& parent) : heap_(parent.heap_, nesting::ends_with_parent) {}

  [[nodiscard]] void* allocate(std::size_t size, std::size_t align) noexcept {
    const block given = heap_.allocate(size, align);
    if (!given) [[unlikely]]
      end_without_memory();
    return given.data;
  }

  // `size` is what was asked for. A heap that can frees by the pointer alone, as free() does.
  void free([[maybe_unused]] void* p, [[maybe_unused]] std::size_t size,
            [[maybe_unused]] std::size_t align) noexcept {
    if constexpr (Frees && freeable<Heap>)
      heap_.deallocate(p);
    else if constexpr (Frees)
      heap_.deallocate(p, size, align);
  }

  void clear() noexcept { heap_.clear(); }

 private:
  Heap heap_;
};

}  // namespace mallard::programs
