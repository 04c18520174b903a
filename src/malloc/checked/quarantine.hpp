// quarantine: freed blocks wait before they are used again, so that late uses of them are caught.
//
//     freed   [ canary | df df df df df df | canary ]  --> newest ... oldest --> still so? --> the heap
//     large   no access, no memory: a read or a write faults, and is reported
//
// One queue for the whole process, bounded in bytes; what is too much leaves it, the oldest first. Pages
// without access also lie around blocks that are sampled. A fault of one of these is reported, then the
// program ends as it would have, or its own handler is called. One lock, for a few instructions a block.
#pragma once

#include <cstddef>

#include "malloc/checked/block_records.hpp"

namespace mallard::malloc_library {

inline constexpr std::size_t default_quarantine = std::size_t{16} << 20;

// Bytes of blocks that wait; of those without memory a 64th counts.
void keep_freed(std::size_t bytes) noexcept;

// Makes a freed block unusable and has it wait. Blocks that leave are checked, by a call from `now`.
void put_aside(const place& b, const char* function, stack_number now) noexcept;

// Has all blocks leave, by such a call, if they are at least `least` bytes together; false if they are not.
[[nodiscard]] bool let_all_go(std::size_t least, const char* function, stack_number now) noexcept;

// From now on no block leaves, none is forbidden, and what is freed stays as it is: all blocks can be looked
// at while other threads go on. For the end of the process.
void stop_reuse() noexcept;

// Whether a waiting block is as it was left.
[[nodiscard]] bool is_as_freed(const place& b) noexcept;
void report_written(const place& b, const char* function, stack_number now) noexcept;

// Forbids access to the pages beside a sampled block; false if the system has no mapping left for that.
[[nodiscard]] bool protect_sides(const place& b) noexcept;

// Held while the process forks.
extern futex_mutex quarantine_mutex;

}  // namespace mallard::malloc_library
