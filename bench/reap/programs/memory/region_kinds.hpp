// region_kinds: the memory of a program, region, one kind a build.
//
//     region            mallard::region              sized_reap         no headers, whole regions end
//     region_emulator   over malloc                  sized_reap_frees   and single blocks
//     individual        malloc and free, no regions  reap, reap_frees   with headers: free by pointer alone
//     recorded          region, counted and told to the recorder
//     recorded_frees    likewise, and single blocks end
//
// The kind is chosen by MALLARD_KIND, a name of namespace `kinds`; the program itself is the same. Heaps that
// are not over malloc have chunks whose beginnings can be shifted.
// Seed 002, sections 4.2, 5.1 and 8.
#pragma once

#include <cstddef>
#include <cstdlib>

#include "harness/shifted_pages.hpp"
#include "mallard/heap/reap.hpp"
#include "mallard/heap/region.hpp"
#include "mallard/heap/region_emulator.hpp"
#include "mallard/heap/sized_reap.hpp"
#include "mallard/source/counting.hpp"
#include "programs/memory/heap_region.hpp"
#include "programs/memory/recorded_region.hpp"

namespace mallard::programs {

// No region at all, but malloc and a free for each block: what a program would be had nobody thought of
// regions. The program's own walks over what it has built free every block at the end of a scope or of a
// pass; a block that no walk reaches is leaked, which AddressSanitizer tells in the tests. Cost: malloc's.
// Seed 002, section 6.2 (individual frees beside regions).
class individual_blocks {
 public:
  static constexpr bool frees = true;
  static constexpr bool is_over_malloc = true;

  individual_blocks() = default;
  explicit individual_blocks(individual_blocks&) noexcept {}
  individual_blocks(const individual_blocks&) = delete;
  individual_blocks& operator=(const individual_blocks&) = delete;

  // `align` is at most malloc's own, which suits every type of the programs.
  [[nodiscard]] void* allocate(std::size_t size, std::size_t) noexcept {
    void* const p = std::malloc(size);
    if (p == nullptr) [[unlikely]]
      end_without_memory();
    return p;
  }

  void free(void* p, std::size_t, std::size_t) noexcept { std::free(p); }
  void clear() noexcept {}
};

namespace kinds {
using shifted = mallard::counting<harness::shifted_pages>;
using region = heap_region<basic_region<shifted>, false>;
using region_emulator = heap_region<mallard::region_emulator, false>;
using sized_reap = heap_region<basic_sized_reap<shifted>, false>;
using sized_reap_frees = heap_region<basic_sized_reap<shifted>, true>;
using reap = heap_region<basic_reap<shifted>, false>;
using reap_frees = heap_region<basic_reap<shifted>, true>;
using individual = individual_blocks;
using recorded = recorded_region<region>;
using recorded_frees = recorded_region<sized_reap_frees>;
}  // namespace kinds

using region = kinds::MALLARD_KIND;

}  // namespace mallard::programs
