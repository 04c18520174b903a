// checked_blocks: what the entry points of the checked malloc do.
//
//     allocate      heap's block, record, canaries       [ canary | the caller's bytes | canary ....... ]
//     deallocate    a block begins there? is live? by the function that belongs to it? canaries whole?
//                   --> quarantine (quarantine.hpp)
//     sampled       [ no access | canary [ the caller's ] no access ]        one block in N
//     at exit       all blocks, live and waiting; leaks
//
// What is wrong is reported, and what can still be done is done: a block that is freed by the wrong function
// is free then, one that is freed twice stays free. Cost: two stacks and a lock a pair, 32 bytes a record,
// at least 32 of canaries. Any thread at any time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "malloc/checked/call_stacks.hpp"
#include "malloc/checked/reports.hpp"

namespace mallard::malloc_library {

inline constexpr std::size_t unknown_size = ~std::size_t{0};

// Which functions a block comes from or goes to.
struct way {
  const char* function;  // for reports
  family of = family::of_malloc;
  bool is_aligned = false;  // it takes an alignment
};

// A request as it was made. Null and ENOMEM when there is no memory.
[[nodiscard]] void* allocate(std::size_t size, std::size_t align, const way& by,
                             const walk_start& caller) noexcept;
[[nodiscard]] void* allocate_zeroed(std::size_t size, const way& by, const walk_start& caller) noexcept;

// As given back: size and alignment where the function has them, otherwise unknown_size and 0.
void deallocate(void* p, std::size_t size, std::size_t align, const way& by,
                const walk_start& caller) noexcept;

// The block always moves, so that uses of the old address are caught.
[[nodiscard]] void* reallocate(void* p, std::size_t size, const way& by, const walk_start& caller) noexcept;

// The size that was asked for; 0 for what is no block.
[[nodiscard]] std::size_t requested_size(const void* p) noexcept;

// --- for leaks.cpp, when the process ends ---

struct live_block {
  std::byte* data = nullptr;
  std::size_t size = 0;
  stack_number allocated = 0;
};

// Whether a mapping that begins at `p` is the heap's, or what is kept of its blocks.
[[nodiscard]] bool is_of_heap(const void* p) noexcept;

// If `p` points into a live block, or right behind it, the block counts as reached.
void reach(const void* p) noexcept;

// A block that has been reached since, each once; null data if there is none.
[[nodiscard]] live_block next_reached() noexcept;

// Calls f(block, with) for each live block that has never been reached.
void for_each_unreached(void (*f)(const live_block&, void*), void* with) noexcept;

// Reports what has happened to blocks that are live or wait to be reused.
void check_all() noexcept;

// Reports blocks that nothing points to any more.
void report_leaks() noexcept;

}  // namespace mallard::malloc_library
