// places: where `none` hands out its blocks, known before the pass.
//
//     one mapping  [ 16 | 16 | 48   | 32  | 16 | 4096 aligned to 4096 ... ]
//                                ^ a place is reused, last in first out, by the next object of its class
//
// A place is as large as its object ever becomes, so that no reallocation moves. Classes are steps
// of 16 bytes up to 1 KiB, above eight steps a doubling, each with its alignment; so the mapping is
// close to what the live objects need, and the floor runs as warm as a heap could. No two objects
// that are alive together overlap, and every place is aligned as its object asked. O(ops).
#pragma once

#include <cstdint>
#include <span>

#include "replay/op.hpp"

namespace mallard::replay {

// Fills `places`, one offset an allocation in order of the ops; returns the bytes they lie in.
std::uint64_t assign_places(std::span<const op> ops, std::size_t slots, std::span<std::uint64_t> places);

}  // namespace mallard::replay
