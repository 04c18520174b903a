// What the kernel says this process holds in memory.
//
//     start()                          pass                      figures
//       | peak := resident now          | allocator works         | peak - resident at start
//       v                               v                          v
//
// For allocators whose source cannot be queried. The worker maps everything of its own in before
// start(), so that only the allocator's pages are added. The kernel keeps the figures per CPU and
// may be 128 KiB a CPU behind; resident_exactly() walks the page tables instead. Nothing here
// allocates.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mallard::harness {

// Maps in all code and constants of every loaded object, so that running them adds nothing.
void map_in_code() noexcept;

// Bytes of anonymous memory resident now, which is what allocators have: pages of files, such as code, come
// and go as the kernel likes. By walking the page tables: O(pages).
[[nodiscard]] std::size_t resident_exactly() noexcept;

// Sets the peak the kernel remembers to what is resident now.
void reset_peak() noexcept;

// Most bytes resident since reset_peak().
[[nodiscard]] std::size_t peak_resident() noexcept;

// Page faults of this process so far, minor and major.
[[nodiscard]] std::uint64_t page_faults() noexcept;

// Bytes the machine could still give to programs without swapping.
[[nodiscard]] std::size_t available_memory() noexcept;

// Limits private writable memory of this process to `bytes` more than it has now: heap and anonymous
// mappings, which are what allocators use. (RLIMIT_AS would also count address space that is only reserved,
// of which some mallocs take terabytes, and the journal's mapping.) False if the kernel refuses.
[[nodiscard]] bool limit_data(std::size_t bytes) noexcept;

}  // namespace mallard::harness
