// spool: the file that the program and its launcher share while the program is recorded.
//
//     [spool_header | ring_header 0..n-1 | module list | ring 0 | ring 1 | ... | ring n-1]
//                                                         ^ shared by threads that have no ring
//
// Each ring has one writer, the thread that owns it, and one reader, the launcher. Both map the whole
// file; the part behind `rings_ready` rings is a hole that nobody touches, so a full disk is noticed
// by the launcher and never by the program. The pages belong to the file, not to a process: what a
// thread has published survives its death, by whatever signal.
//
// Invariant: a ring's records lie in [tail, head), positions in words that only grow. The owner
// writes words, then publishes head; the reader copies words, then publishes tail.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace mallard::recorder {

inline constexpr char spool_variable[] = "MALLARD_RECORD_SPOOL";  // tells the library the spool's path

inline constexpr std::uint64_t spool_magic = 0x4c4f4f50534c4d01;
inline constexpr std::size_t spool_page = 4096;  // bytes
inline constexpr std::uint32_t max_rings = 1024;
inline constexpr std::size_t module_list_bytes = 512 * 1024;
inline constexpr std::size_t smallest_ring = spool_page;           // bytes
inline constexpr std::size_t largest_ring = std::size_t{1} << 30;  // bytes
inline constexpr std::size_t default_ring = std::size_t{1} << 20;  // bytes

struct spool_header {
  // Written by the launcher before the program starts.
  std::uint64_t magic;
  std::uint64_t ring_words;    // of each ring; a power of two
  std::uint64_t start_ticks;   // when recording began
  std::uint32_t ring_count;    // rings in the file, ready or not
  std::uint32_t free_callers;  // not 0: frees carry their caller

  // Written by the program.
  alignas(64) std::atomic<std::uint32_t> attached;  // its process id, once the library has begun to record
  std::atomic<std::uint32_t> bypassed;    // the program calls a malloc that the library is not asked for
  std::atomic<std::uint32_t> gave_up;     // it recorded no further, since the launcher made no progress
  std::atomic<std::uint32_t> threads;     // numbers given to threads so far
  std::atomic<std::uint32_t> rings_used;  // one more than the highest ring ever owned
  std::atomic<std::uint32_t> shared_ring_taken;  // lock of ring 0
  std::atomic<std::uint32_t> module_bytes;       // of the module list, published

  // Written by the launcher.
  alignas(64) std::atomic<std::uint32_t> heartbeat;  // grows with every round of reading
  std::atomic<std::uint32_t> stopped;                // it reads no further: the program need not record
  std::atomic<std::uint32_t> rings_ready;            // rings backed by disk space
  std::atomic<std::uint32_t> asleep;                 // it waits on the doorbell

  alignas(64) std::atomic<std::uint32_t> doorbell;  // futex, rung by the program
};

struct alignas(64) ring_header {
  std::atomic<std::uint64_t> head;  // words ever published
  std::atomic<std::uint64_t> stalls;
  std::atomic<std::uint64_t> stalled_ticks;
  std::atomic<std::uint32_t> owned;  // 1: a thread is its writer

  alignas(64) std::atomic<std::uint64_t> tail;  // words ever read
};

// An entry of the module list, followed by the path and then the build id, both without a final zero.
struct module_entry {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t bias;
  std::uint32_t path_bytes;
  std::uint32_t build_id_bytes;
};

static_assert(sizeof(spool_header) <= spool_page);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

inline constexpr std::size_t ring_headers_at = spool_page;
inline constexpr std::size_t module_list_at = ring_headers_at + max_rings * sizeof(ring_header);
inline constexpr std::size_t rings_at = module_list_at + module_list_bytes;
static_assert(rings_at % spool_page == 0);

[[nodiscard]] inline ring_header& ring_of(spool_header* spool, std::uint32_t index) noexcept {
  return reinterpret_cast<ring_header*>(reinterpret_cast<char*>(spool) + ring_headers_at)[index];
}

[[nodiscard]] inline std::uint64_t* ring_words_of(spool_header* spool, std::uint32_t index,
                                                  std::uint64_t ring_words) noexcept {
  return reinterpret_cast<std::uint64_t*>(reinterpret_cast<char*>(spool) + rings_at) + index * ring_words;
}

[[nodiscard]] inline char* module_list_of(spool_header* spool) noexcept {
  return reinterpret_cast<char*>(spool) + module_list_at;
}

}  // namespace mallard::recorder
