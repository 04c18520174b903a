// spool_mapping: where the spool lies in the process's memory.
//
//     at the beginning      [ header ... names | contexts 0 ]   [ ring 0 ]
//     when it is needed     [ contexts 1 ]  [ contexts 2 ] ...  [ ring 1 ]  [ ring 2 ] ...
//
// Rings, and pieces of the context table, are mapped one after the other, so that a process takes no more
// address space than it has threads and contexts. A new mapping is made from the last page of the one before,
// and needs no descriptor: the process may have changed its root, its user or its limits.
//
//     forked child:  [ the parent's spool ] --> [ its names alone ] --> [ the child's spool ]
//                      at fork, before anything else runs                at its first event
//
// One place for each process: a child's own spool takes the place of its parent's, so that generations of
// children need no more address space than their ancestor. In between there is private memory that nobody
// reads: if a signal handler forked, the event that it interrupted is still written there.
//
// A lock on the spool tells the launcher that the process lives. It belongs to a page of the spool that is
// mapped by itself and that no forked child inherits, so the program sees no descriptor, and the lock ends
// with the process.
#pragma once

#include <cstddef>
#include <cstdint>

#include "journal/spool/spool.hpp"
#include "mallard/core/attributes.hpp"

namespace mallard::recorder {

// The first pages of the spool at `path`, its header and the list of what is not recorded, for as long as the
// process lives; null if it is not a spool.
[[nodiscard]] journal::spool_header* map_spool_page(const char* path) noexcept;

// The beginning of a spool, with its shared ring, which this process is to record into: takes its lock. Null
// if it cannot be mapped or locked, and errno says why. `options` are the spool's.
[[nodiscard]] journal::spool_header* map_spool(const char* path,
                                               const journal::spool_options& options) noexcept;

// The words of a ring of this process's spool; null if there is no address space for it.
[[nodiscard]] std::uint64_t* map_ring(std::uint32_t index) noexcept;

// Whether the first `count` contexts can be used by now.
[[nodiscard]] bool map_contexts(std::uint32_t count) noexcept;

inline constexpr std::uint32_t contexts_in_piece = journal::contexts_at_first;
inline constexpr std::uint32_t context_pieces = journal::max_contexts_in_spool / contexts_in_piece;
extern journal::context_entry* mapped_contexts[context_pieces];

// One of those.
[[nodiscard]] MALLARD_INLINE journal::context_entry& context_at(std::uint32_t number) noexcept {
  return mapped_contexts[number / contexts_in_piece][number % contexts_in_piece];
}

// The process's peak resident memory in bytes, less what this library, the pages of map_pages, the spool and
// the tables that unwinding reads have of it at this moment; 0 where the system does not say so.
[[nodiscard]] std::uint64_t peak_of_program() noexcept;

// To be called in a forked child.
void leave_parents_spool() noexcept;

// The parent's spool, for reading names until this process has its own; null if the parent had none.
[[nodiscard]] journal::spool_header* parents_spool() noexcept;

// Leaves it where it is, for a child that still needs its names.
void keep_parents_spool() noexcept;

}  // namespace mallard::recorder
