// spool_mapping: where the spool lies in the process's memory.
//
//     forked child:  [ the parent's spool ] --> [ its names alone ] --> [ the child's spool ]
//                      at fork, before anything else runs                at its first event
//
// One place for each process: a child's own spool takes the place of its parent's, so that generations of
// children need no more address space than their ancestor. In between there is private memory that nobody
// reads: if a signal handler forked, the event that it interrupted is still written there.
#pragma once

#include <cstddef>

#include "journal/spool/spool.hpp"

namespace mallard::recorder {

// The first page of the spool at `path`, for as long as the process lives; null if it is none.
[[nodiscard]] journal::spool_header* map_spool_page(const char* path) noexcept;

// The whole of a spool; null if it cannot be mapped. `ring_words` is that of every spool of a recording.
[[nodiscard]] journal::spool_header* map_spool(const char* path, std::uint64_t ring_words) noexcept;
[[nodiscard]] journal::spool_header* map_spool(int descriptor, std::uint64_t ring_words) noexcept;

// To be called in a forked child.
void leave_parents_spool() noexcept;

// The parent's spool, for reading names until this process has its own; null if the parent had none.
[[nodiscard]] journal::spool_header* parents_spool() noexcept;

// Leaves it where it is, for a child that still needs its names.
void keep_parents_spool() noexcept;

}  // namespace mallard::recorder
