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

#include "harness/shifted_pages.hpp"
#include "mallard/heap/reap.hpp"
#include "mallard/heap/region.hpp"
#include "mallard/heap/region_emulator.hpp"
#include "mallard/heap/sized_reap.hpp"
#include "mallard/source/counting.hpp"
#include "programs/memory/heap_region.hpp"
#include "programs/memory/individual_blocks.hpp"
#include "programs/memory/recorded_region.hpp"

namespace mallard::programs {

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
