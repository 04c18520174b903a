// region: the memory of a program, one kind a build.
//
//     region            mallard::region              sized_reap         no headers, whole regions end
//     region_emulator   over malloc                  sized_reap_frees   and single blocks
//     individual        malloc and free, no regions  reap, reap_frees   with headers: free by pointer alone
//     recorded          region, counted and told to the recorder
//     recorded_frees    likewise, and single blocks end
//
// The kind is chosen by MALLARD_KIND, a name of namespace `kinds`; the program itself is the same.
// Seed 002, sections 4.2, 5.1 and 8.
#pragma once

#include "mallard/heap/reap.hpp"
#include "mallard/heap/region.hpp"
#include "mallard/heap/region_emulator.hpp"
#include "mallard/heap/sized_reap.hpp"
#include "programs/memory/heap_region.hpp"
#include "programs/memory/individual_blocks.hpp"
#include "programs/memory/recorded_region.hpp"

namespace mallard::programs {

namespace kinds {
using region = heap_region<mallard::region, false>;
using region_emulator = heap_region<mallard::region_emulator, false>;
using sized_reap = heap_region<mallard::sized_reap, false>;
using sized_reap_frees = heap_region<mallard::sized_reap, true>;
using reap = heap_region<mallard::reap, false>;
using reap_frees = heap_region<mallard::reap, true>;
using individual = individual_blocks;
using recorded = recorded_region<region>;
using recorded_frees = recorded_region<sized_reap_frees>;
}  // namespace kinds

using region = kinds::MALLARD_KIND;

}  // namespace mallard::programs
