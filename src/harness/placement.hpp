// place_memory: from now on the system maps memory at addresses that this program has chosen.
//
//     0   | program, libraries; holes: taken | base: free ...
//
// What an operation takes may depend on addresses: the header of an adaptive pool's slab lies where the
// slab's address says, and is in the way of other blocks. Where the system maps memory depends on what is
// mapped already: on the kernel, the sizes of files, the environment. For programs under valgrind, which maps
// what is asked for at the lowest address with room: all room below a base is taken, and never touched.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace mallard::harness {

inline constexpr std::size_t placement_page = 4096;

// Takes addresses without memory where the system has room; 0 where there is none.
inline std::uintptr_t take_addresses(std::size_t bytes) {
  void* const p = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? 0 : reinterpret_cast<std::uintptr_t>(p);
}

// Whether memory comes from a base now, which lies `pages` behind the usual one.
[[nodiscard]] inline bool place_memory(std::size_t pages = 0) {
  constexpr std::size_t usual = std::size_t{1} << 34;
  const auto give_back = [](std::uintptr_t begin, std::size_t bytes) {
    ::munmap(reinterpret_cast<void*>(begin), bytes);
  };
  const std::uintptr_t base = usual + pages * placement_page;
  for (std::size_t bytes = usual; bytes >= placement_page; bytes /= 2) {
    std::uintptr_t taken = take_addresses(bytes);
    while (taken != 0 && taken + bytes <= base) taken = take_addresses(bytes);
    if (taken != 0) give_back(taken, bytes);
  }
  const std::uintptr_t next = take_addresses(placement_page);
  if (next != 0) give_back(next, placement_page);
  return next == base;
}

}  // namespace mallard::harness
