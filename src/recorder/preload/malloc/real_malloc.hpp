// real_malloc: the functions that this library interposes, the next ones in the program's order of lookup.
//
//     program -> malloc here -> real.malloc: another preloaded allocator's, or libc's
//
// Each pointer first leads to code that looks all of them up, so that later calls need no check. The lookup
// may itself allocate: meanwhile the pointers lead to a small fixed buffer. Blocks from there are recognised
// when they are freed, which costs every free one comparison.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mallard/core/attributes.hpp"

namespace mallard::recorder {

struct real_functions {
  void* (*malloc)(std::size_t) noexcept;
  void* (*calloc)(std::size_t, std::size_t) noexcept;
  void* (*realloc)(void*, std::size_t) noexcept;
  void* (*reallocarray)(void*, std::size_t, std::size_t) noexcept;
  void (*free)(void*) noexcept;
  int (*posix_memalign)(void**, std::size_t, std::size_t) noexcept;
  void* (*aligned_alloc)(std::size_t, std::size_t) noexcept;
  void* (*memalign)(std::size_t, std::size_t) noexcept;
  void* (*valloc)(std::size_t) noexcept;
  void* (*pvalloc)(std::size_t) noexcept;
};

extern real_functions real;

// Looks the functions up if that has not happened yet.
void find_real_functions() noexcept;

inline constexpr std::size_t bootstrap_bytes = std::size_t{64} * 1024;
extern char bootstrap_buffer[bootstrap_bytes];

// Whether `p` was handed out while the functions were looked up.
[[nodiscard]] MALLARD_INLINE bool is_bootstrap(const void* p) noexcept {
  return reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(bootstrap_buffer) <
         bootstrap_bytes;
}

// `p` of the bootstrap buffer, moved to a block of `size` bytes of the real malloc; null if there is none.
[[nodiscard]] void* move_out_of_bootstrap(const void* p, std::size_t size) noexcept;

}  // namespace mallard::recorder
