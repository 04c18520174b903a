// assign_registers: gives each interval a register of the machine or a slot of the frame, in one scan.
//
//     intervals by their beginnings    1 |-----|          those that have ended give their registers back;
//                                      2    |--------|    where none is free, the one that ends last goes
//                                      3        |--|      to the frame
//
// Cost: O(n log n) for n intervals.
#pragma once

#include <cstdint>

#include "programs/compiler/liveness.hpp"
#include "programs/memory/region.hpp"

namespace mallard::programs {

inline constexpr std::uint32_t machine_registers = 8;

// How many slots of the frame are used. What the scan needs lies in a region inside `around`.
std::uint32_t assign_registers(region& around, liveness& all);

}  // namespace mallard::programs
